"""Case files: YAML text in, frozen cases out."""

from sdpa_cli.cases.case import Case, Expectation
from sdpa_cli.cases.loading import Overrides, load_case, load_cases
from sdpa_cli.cases.publishing import case_schema, field_table
from sdpa_cli.cases.source import Source

__all__ = ["Case", "Expectation", "Overrides", "Source", "case_schema", "field_table", "load_case", "load_cases"]
