"""Long jobs report their progress."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from tests.dashboard.conftest import Clock

import tres
from tres.dashboard import job_queue as jobs
from tres.dashboard.followed_run import ClientState, FollowedRun
from tres.dashboard.job_queue import JobQueue
from tres.dashboard.run_orders import train_model
from tres.offline.generated.generator import GeneratedWeb
from tres.store.judgements import Judgement, append_judgement

WORKER = """
import pathlib, time
print('{"progress": "training on 7 pages"}', flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print('{"judged": 3}')
"""


def test_progress_is_known_while_a_job_runs(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "COMMAND", (sys.executable, "-c", WORKER))
    monkeypatch.chdir(tmp_path)

    async def watched() -> None:
        work = JobQueue(clock)
        job = work.start("learn", FollowedRun("letters", tmp_path, clock))
        while not job.progress:
            await asyncio.sleep(0.01)
        assert (job.progress, job.is_running) == ("training on 7 pages", True)
        (tmp_path / "go").touch()
        assert job.task is not None
        await job.task
        assert (job.progress, job.result) == ("", {"judged": 3})

    asyncio.run(watched())


def test_training_reports_its_stages(tmp_path: Path) -> None:
    web, run = GeneratedWeb(300, seed=1), tmp_path / "run"
    topic = tres.new_topic(web.topics["sailing"], web.seeds("sailing"), labels=["sailing"])
    pages = list(tres.crawl_pages(topic, "generated:pages=300,seed=1", run=run, pages=10))
    for page in pages[:2]:
        append_judgement(run, Judgement(page.url, page.relevant, page.step, 0.5))
    stages: list[str] = []
    assert train_model(run, stages.append)["judged"] == 2
    assert stages[:2] == ["reading judged pages: 1 of 2", "reading judged pages: 2 of 2"]
    assert stages[3].startswith("training on ")
    assert stages[-2:] == ["handing over the model", "judging the pages of the run again"]


def test_a_repeated_judgement_counts_as_learnt(tmp_path: Path, clock: Clock) -> None:
    """The model is the same as before, but nothing is left to learn."""
    web, run = GeneratedWeb(300, seed=1), tmp_path / "run"
    topic = tres.new_topic(web.topics["sailing"], web.seeds("sailing"), labels=["sailing"])
    pages = list(tres.crawl_pages(topic, "generated:pages=300,seed=1", run=run, pages=10))
    followed = FollowedRun("run", run, clock)
    for _ in range(2):
        for model in run.glob("model*"):
            os.utime(model, (1.0, 1.0))  # was learnt long ago
        append_judgement(run, Judgement(pages[0].url, True, 1, 0.5))
        assert followed.news(ClientState())["judgements"]["new"]
        train_model(run)
        assert not followed.news(ClientState())["judgements"]["new"]
