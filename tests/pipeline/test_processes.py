"""Worker processes: what comes of a job is the same wherever it is done, and a worker that dies costs nothing."""

import math
import os
import signal
import time
import weakref
from pathlib import Path

import pytest

from almanac.pipeline import processes
from almanac.pipeline.derive import companies
from almanac.pipeline.processes import Processes
from tests.support.processes import PATIENCE


def where(_):
    return os.getpid()


def slowly(number):
    time.sleep(0.05)
    return number, os.getpid()


def refused(number):
    raise ValueError(f"no {number}")


def killed(owner):
    if os.getpid() != owner:
        os.kill(os.getpid(), signal.SIGKILL)
    return "here"


@pytest.fixture
def two(monkeypatch):
    monkeypatch.setattr(processes, "WORTHWHILE", 0)
    made = Processes(2)
    yield made
    made.close()


def pids(owner):
    return list(owner._pool._processes)


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_for(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def begun(two):
    """The pool, once its worker works: it takes a while to begin."""
    two.job(where, 0, weight=1)
    wait_for(lambda: two._pool.submit(where, 0).done())
    return two


def test_results_come_in_the_order_in_which_they_are_asked_for_and_both_processes_work(two):
    """The writer does what no worker has begun."""
    begun(two)
    jobs = [two.job(slowly, number, weight=1) for number in range(20)]
    results = [job.result() for job in reversed(jobs)]
    assert [number for number, _ in results] == list(reversed(range(20)))
    assert {pid for _, pid in results} == {os.getpid(), *pids(two)}


def test_one_process_and_little_work_start_no_other(monkeypatch):
    alone, little = Processes(1), Processes(2)
    monkeypatch.setattr(processes, "WORTHWHILE", math.inf)
    assert [pool.job(where, 0, weight=1 << 30).result() for pool in (alone, little)] == [os.getpid()] * 2
    assert alone._pool is None
    assert little._pool is None


def test_what_a_job_raises_is_raised_where_its_result_is_asked_for(two):
    jobs = [two.job(refused, number, weight=1) for number in range(8)]
    for number, job in enumerate(jobs):
        with pytest.raises(ValueError, match=f"no {number}"):
            job.result()


def test_a_job_that_cannot_be_sent_is_done_here(two):
    job = two.job(lambda: "here", weight=1)
    wait_for(job._sent.done)
    assert job.result() == "here"


def test_after_a_worker_died_all_is_done_here_and_it_is_said_once(two, caplog):
    jobs = [two.job(killed, os.getpid(), weight=1) for _ in range(8)]
    wait_for(jobs[0]._sent.done)
    assert [job.result() for job in jobs] == ["here"] * 8
    assert two.job(where, 0, weight=1).result() == os.getpid()
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        "a worker process ended before its time: the rest is computed in one process"
    ]


def test_workers_end_with_close(two):
    assert two.job(where, 0, weight=1).result()
    workers = pids(two)
    assert workers
    two.close()
    assert all(map(gone, workers))


def test_a_job_that_reads_much_is_done_here(two, monkeypatch):
    monkeypatch.setattr(processes, "HEAVIEST", 10)
    jobs = [two.job(slowly, number, weight=weight) for number, weight in enumerate((10, 11, 10, 11))]
    assert [job._sent is None for job in jobs] == [False, True, False, True]
    results = [job.result() for job in jobs]
    assert [number for number, _ in results] == [0, 1, 2, 3]
    assert {pid for _, pid in results[1::2]} == {os.getpid()}


def test_companies_that_were_written_are_let_go_of_while_the_rest_is_derived(monkeypatch):
    class Company:
        def __init__(self):
            self.facts = {}

    def read(_db, _entity):
        alive.add(company := Company())
        return company

    alive, unstarted = weakref.WeakSet(), Processes(2)
    monkeypatch.setattr(companies, "read", read)
    monkeypatch.setattr(companies, "derived", where)
    assert [len(alive) for _ in companies.CompanyDeriver(None, unstarted)._derived("ABC")] == [3, 2, 1]
