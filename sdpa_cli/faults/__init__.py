"""Known wrong attentions, by name: what the explanations show beside the right one and the grader recognises."""

from sdpa_cli.faults.catalogue import CATALOGUE as CATALOGUE
from sdpa_cli.faults.catalogue import LAWS as LAWS
from sdpa_cli.faults.catalogue import Fault as Fault
from sdpa_cli.faults.recipe import Recipe as Recipe
from sdpa_cli.faults.recipe import Steps as Steps
