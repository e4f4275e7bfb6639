"""What a broken entry point of another package beside ours does."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.host

PROBE = (
    "from lmms_eval.evaluator import models\n"
    "from lmms_eval.tasks import TaskManager\n"
    "print('found' if 'finmme_finscore' in TaskManager('ERROR').all_tasks else 'hidden')"
)


def neighbour(folder, name):
    """A package whose entry point raises, as one that lies on the path under that name."""
    (folder / f"{name}.py").write_text("raise RuntimeError('broken neighbour')\n")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[lmms_eval.models]\n{name} = {name}:register\n")


@pytest.mark.parametrize(("place", "expected"), [("after", "found"), ("before", "hidden")])
def test_only_entry_points_before_ours_can_hide_the_tasks(tmp_path, host_environment, place, expected):
    """The host stops at the first entry point that raises; the README says so and names --include_path."""
    neighbour(tmp_path, "broken_neighbour")
    order = f"sys.path.{'append' if place == 'after' else 'insert'}({'' if place == 'after' else '0, '}{str(tmp_path)!r})"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {order}\n{PROBE}"],
        env=host_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip().splitlines()[-1] == expected, done.stderr[-2000:]
