"""On a Dask cluster the result is the same, whatever becomes of its workers."""

import os
import threading
import time

import numpy as np
import pytest

from sdpa_cli import Mask, attend, clusters
from sdpa_cli.errors import InputError

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own warnings are Dask's


@pytest.fixture(scope="module")
def executor():
    with clusters.executor_on("local") as executor:
        yield executor


@pytest.fixture
def mapped(tmp_path):
    """Q, K and V in files: more than one part of queries, and more than one of keys."""
    rng = np.random.default_rng(7)
    for name, shape in (("q", (5000, 3)), ("k", (17000, 3)), ("v", (17000, 2))):
        np.save(tmp_path / f"{name}.npy", rng.standard_normal(shape))
    return tuple(np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "qkv")


def test_the_cluster_computes_what_this_machine_computes(executor, mapped):
    mask = Mask(causal=True, query_offset=12000)
    here, there = attend(*mapped, mask=mask), attend(*mapped, mask=mask, executor=executor)
    np.testing.assert_allclose(there.output, here.output, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(there.lse, here.lse, rtol=1e-14)
    np.testing.assert_allclose(there.weights([4999], slice(0, 5)), here.weights([4999], slice(0, 5)), rtol=1e-12)


def test_a_lost_worker_changes_nothing(executor, mapped):
    victim = next(iter(executor._client.run(os.getpid).values()))

    def lose():
        time.sleep(0.05)
        os.kill(victim, 9)

    loser = threading.Thread(target=lose)
    loser.start()
    there = attend(*mapped, executor=executor)
    loser.join()
    np.testing.assert_allclose(there.output, attend(*mapped).output, rtol=1e-12, atol=1e-14)


def test_files_that_workers_do_not_see_are_named_as_the_cause(mapped, tmp_path):
    (tmp_path / "q.npy").unlink()
    with pytest.raises(InputError, match="a worker of the cluster cannot read a file of the case") as caught:  # noqa: SIM117
        with clusters.executor_on("local") as executor:
            attend(*mapped, executor=executor)
    assert caught.value.problems[0].hint == "keep the files where every worker finds them under the same path"


def test_where_no_scheduler_answers_the_address_is_named(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 1)
    with (
        pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"),
        clusters.executor_on("tcp://127.0.0.1:1"),
    ):
        pass
