"""Two computations of one case side by side: the right one, and a catalogued fault or another library's habits."""
