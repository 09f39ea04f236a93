"""From a case to everything a view may show: its attention, and whether what it expects holds."""

from sdpa_cli.computing.computing import compute as compute
from sdpa_cli.computing.results import MATRICES as MATRICES
from sdpa_cli.computing.results import Cache as Cache
from sdpa_cli.computing.results import Computed as Computed
from sdpa_cli.computing.results import Indices as Indices
from sdpa_cli.computing.results import Matrix as Matrix
from sdpa_cli.computing.results import Verdict as Verdict
from sdpa_cli.computing.results import axes_of as axes_of
from sdpa_cli.computing.results import deciding_axes as deciding_axes
from sdpa_cli.computing.results import read as read
from sdpa_cli.computing.results import row_blocks as row_blocks
from sdpa_cli.computing.results import shape_of as shape_of
from sdpa_cli.computing.results import window as window
