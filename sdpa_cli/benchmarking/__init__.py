"""What attention costs on this machine: streaming, naive and installed peers, measured side by side.

`sdpa_cli.benchmarking.measuring.run` takes a `Plan` and gives a `Report`. Nothing is imported here, so that a process
that serves one engine can settle its CPUs before NumPy is loaded.
"""
