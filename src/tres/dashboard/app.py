"""The application: files for the browser, and the JSON API behind them.

Disk access happens in threads, computation in other processes (`dashboard.job_queue`), so that the
event loop is always free to answer.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from tres import __version__
from tres.dashboard.downloads import Downloads, formats_of
from tres.dashboard.followed_run import ClientState, FollowedRun
from tres.dashboard.job_queue import Job, JobQueue
from tres.dashboard.metrics_endpoint import MetricsEndpoint
from tres.dashboard.query_process import QueryProcess
from tres.dashboard.run_counts import Json
from tres.dashboard.run_files import hide_path
from tres.dashboard.run_list import Runs
from tres.dashboard.run_orders import give_order, save_judgement
from tres.dashboard.security import (
    COOKIE,
    AccessRules,
    Guard,
    RefusedError,
    client_address,
    refusal,
)
from tres.dashboard.started_crawls import StartedCrawls
from tres.dashboard.topic_list import find_topics
from tres.errors import TresError
from tres.report.metrics import CONTENT_TYPE
from tres.report.palette import PALETTE

STATIC = Path(__file__).parent / "static"
CHARTS = Path(str(files("chartkick"))) / "django" / "static" / "chartkick" / "Chart.bundle.js"
"""Chart.js, as the package `chartkick` ships it."""
PALETTE_CSS = "".join(
    f":root{{--{name}:light-dark({colour.light},{colour.dark})}}\n"
    for name, colour in PALETTE.items()
)
LIST_SECONDS = 0.3
"""Seconds that one list may spend on runs that were not read before; the next list continues."""
FRONTIER_INTERVAL = 15.0
"""Fewest seconds between two looks at a frontier; if more, ten times what the last one took."""
SITES = 50
MOST_TEXTS = 30
"""Pages whose texts can be asked for at once."""
STEP = re.compile("[1-9][0-9]{0,8}")


class Dashboard:
    """The routes, and what they share."""

    def __init__(
        self, runs: Runs, access: AccessRules, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.runs = runs
        self.access = access
        self.clock = clock
        self.jobs = JobQueue(clock)
        self.queries = QueryProcess()
        self.crawls = StartedCrawls()
        self.downloads = Downloads()
        self.metrics_endpoint = MetricsEndpoint()

    def app(self) -> ASGIApp:
        """Return the application behind its guard."""
        run = "/api/runs/{key}"
        routes = [
            Route("/", self.page),
            Route("/static/chart.js", self.charts),
            Route("/static/palette.css", self.palette),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/metrics", self.metrics),
            Route("/api/login", self.login, methods=["POST"]),
            Route("/api/runs", self.list),
            Route("/api/topics", self.topics),
            Route("/api/crawls", self.crawl, methods=["POST"]),
            Route(run, self.run),
            Route(f"{run}/frontier", self.frontier),
            Route(f"{run}/explain", self.explain),
            Route(f"{run}/texts", self.texts),
            Route(f"{run}/report", self.report),
            Route(f"{run}/export", self.export),
            Route(f"{run}/orders", self.order, methods=["POST"]),
            Route(f"{run}/judgements", self.judgement, methods=["POST"]),
            Route(f"{run}/learn", self.learn, methods=["POST"]),
            Route(f"{run}/resume", self.resume, methods=["POST"]),
        ]
        answers = {
            TresError: self._problem,
            RefusedError: refusal,
            HTTPException: _not_found,
            Exception: _internal_error,
        }
        app = Starlette(routes=routes, exception_handlers=answers, lifespan=self._lifespan)
        return Guard(app, self.access)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        await self.jobs.close()
        self.queries.close()

    async def page(self, request: Request) -> Response:
        """The page, which scripts fill."""
        return FileResponse(STATIC / "index.html")

    async def charts(self, request: Request) -> Response:
        """Chart.js, from the package that ships it."""
        return FileResponse(CHARTS)

    async def palette(self, request: Request) -> Response:
        """The colours of the report."""
        return Response(PALETTE_CSS, media_type="text/css")

    async def login(self, request: Request) -> Response:
        """Exchange the token for a cookie."""
        token = (await _body(request)).get("token")
        address = client_address(request.scope)
        if not isinstance(token, str) or not self.access.accepts_token(token, address):
            raise RefusedError(401, "this is not the token that 'tres dashboard' has printed")
        answer = JSONResponse({"said": "Welcome."})
        answer.set_cookie(COOKIE, self.access.cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def metrics(self, request: Request) -> Response:
        """The newest runs as metrics for Prometheus."""
        text = await run_in_threadpool(lambda: self.metrics_endpoint.text(self.runs.all()))
        return Response(text, media_type=CONTENT_TYPE)

    async def list(self, request: Request) -> Response:
        """All runs, with a few numbers each."""
        return JSONResponse(await run_in_threadpool(self._listed))

    def _listed(self) -> Json:
        until = self.clock() + LIST_SECONDS
        runs = self.runs.all()
        return {
            "version": __version__,
            "runs": [
                self._with_problem(run, run.listed())
                if run.is_read or self.clock() < until
                else {"key": run.key, "name": run.name}
                for run in runs
            ],
            "begun": self.crawls.not_yet_runs({run.directory for run in runs}),
            "can_begin": self.runs.home is not None,
        }

    async def topics(self, request: Request) -> Response:
        """The topic files that can be crawled."""
        found = await run_in_threadpool(find_topics, self._folder())
        return JSONResponse({"topics": [topic.to_json() for topic in found]})

    async def crawl(self, request: Request) -> Response:
        """Start a crawl of a topic file."""
        wanted, folder = (await _body(request)).get("topic"), self._folder()
        found = await run_in_threadpool(find_topics, folder)
        topic = next((topic for topic in found if topic.key == wanted), None)
        if topic is None:
            raise RefusedError(404, "there is no such topic file; reload the page")
        assert self.runs.home is not None
        return await _confirm(self.crawls.start, topic, self.runs.home)

    def _folder(self) -> Path:
        """The folder of the topic files: the one that holds the directory of all runs."""
        if self.runs.home is None:
            raise RefusedError(
                409,
                "this dashboard shows only the runs that were named; start it without naming any",
            )
        return self.runs.home.absolute().parent

    async def run(self, request: Request) -> Response:
        """One run: what the browser does not have yet."""
        run = self._requested_run(request)
        news = await run_in_threadpool(run.news, _client_state(request))
        news["formats"] = await run_in_threadpool(formats_of, run)
        news["learning"] = self._job_json(self.jobs.get("learn", run))
        return JSONResponse(self._with_problem(run, news))

    def _with_problem(self, run: FollowedRun, shown: Json) -> Json:
        """A run as it is shown, with why its crawl has failed if it was started here."""
        failed = hide_path(self.crawls.problem(run), run.directory)
        return shown | {"problem": shown["problem"] or failed}

    async def frontier(self, request: Request) -> Response:
        """What waits in the frontier, as of the last look; looks again if it is time."""
        run = self._requested_run(request)
        job = self.jobs.get("frontier", run)
        known = -1 if job.result is None else job.result.get("step", -1)
        pause = max(FRONTIER_INTERVAL, 10 * job.took)
        if known != run.counts.pages and self.clock() - job.began >= pause:
            job = self.jobs.start("frontier", run)
        gave = await run_in_threadpool(run.sites, SITES)
        return JSONResponse(self._job_json(job) | {"gave": gave})

    async def explain(self, request: Request) -> Response:
        """Why a page was fetched; with `wait`, also what takes seconds to compute."""
        run, (step,) = self._requested_run(request), _steps(request, "step", 1)
        wait = request.query_params.get("wait") == "1"
        ask = partial(self.queries.ask, "explain", run, step=step, wait=wait)
        return JSONResponse(await run_in_threadpool(ask))

    async def texts(self, request: Request) -> Response:
        """Extracts of some pages, to judge them by."""
        run, steps = self._requested_run(request), _steps(request, "steps", MOST_TEXTS)
        ask = partial(self.queries.ask, "texts", run, steps=steps)
        return JSONResponse(await run_in_threadpool(ask))

    async def report(self, request: Request) -> Response:
        """The report of a run as it is now."""
        return await self.downloads.report(self._requested_run(request))

    async def export(self, request: Request) -> Response:
        """The pages of a run as a file."""
        form = request.query_params.get("to", "")
        relevant = request.query_params.get("relevant") == "1"
        return await self.downloads.export(self._requested_run(request), form, relevant)

    async def order(self, request: Request) -> Response:
        """Give an order to a running crawl."""
        run, wanted = self._requested_run(request), await _body(request)
        return await _confirm(give_order, run, wanted)

    async def judgement(self, request: Request) -> Response:
        """Save a judgement."""
        return await _confirm(save_judgement, self._requested_run(request), await _body(request))

    async def learn(self, request: Request) -> Response:
        """Retrain the model with all judgements."""
        self.jobs.start("learn", self._requested_run(request))
        return JSONResponse({"said": "The model is learning from the judgements."})

    async def resume(self, request: Request) -> Response:
        """Resume a run."""
        run = self._requested_run(request)
        return await _confirm(self.crawls.resume, run, await _body(request))

    async def _problem(self, request: Request, problem: Exception) -> Response:
        """What the user can put right; the path of the run is not shown."""
        assert isinstance(problem, TresError)
        run = self.runs.get(request.path_params.get("key", ""))
        message = problem.message if run is None else hide_path(problem.message, run.directory)
        return JSONResponse({"error": message}, 409)

    def _job_json(self, job: Job) -> Json:
        """The state of a job, and for how long it has run."""
        spent = round(self.clock() - job.began) if job.is_running else 0
        return {
            "busy": job.is_running,
            "result": job.result,
            "progress": job.progress,
            "seconds": spent,
        }

    def _requested_run(self, request: Request) -> FollowedRun:
        run = self.runs.get(request.path_params["key"])
        if run is None:
            raise RefusedError(404, "there is no such run; go back to the list of runs")
        return run


async def _confirm(act: Callable[..., str], *arguments: object) -> Response:
    """Do something in a thread; the answer is its confirmation."""
    return JSONResponse({"said": await run_in_threadpool(act, *arguments)})


def _client_state(request: Request) -> ClientState:
    names = ("edition", "stride", "point", "page", "failed", "verdicts")
    return ClientState(**{name: _number(request, name) for name in names})


def _steps(request: Request, name: str, most: int) -> list[int]:
    """The step numbers in a request; `RefusedError` if they are not numbers."""
    texts = request.query_params.get(name, "").split(",")
    if len(texts) > most or not all(STEP.fullmatch(text) for text in texts):
        raise RefusedError(400, f"{name}: give the number of a page, such as {name}=12")
    return [int(text) for text in texts]


def _number(request: Request, name: str) -> int:
    """A number in the request; 0 if it is not one."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


async def _body(request: Request) -> Json:
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise RefusedError(400, "send a JSON object")
    return body


async def _not_found(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return JSONResponse({"error": "there is nothing here"}, problem.status_code)


async def _internal_error(request: Request, problem: Exception) -> Response:
    return JSONResponse({"error": "something went wrong; the terminal says more"}, 500)
