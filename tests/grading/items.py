"""Where the course lies, and looking things up in reports."""

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
EXERCISES = ROOT / "exercises"
SOLUTIONS = ROOT / "solutions"


def item(report, check):
    """The item of that check."""
    return next(item for item in report.items if item.check == check)


def keys(item):
    """The keys of what an item says."""
    return [message.key for message in item.finding.messages]
