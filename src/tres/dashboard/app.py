"""The application: files for the browser, and a small JSON API that says what it shows.

Whatever touches a disk is done in a thread, whatever computes in another process
(`dashboard.job_queue`), so the event loop is always free to answer.
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
from tres.dashboard.followed_run import FollowedRun, Since
from tres.dashboard.job_queue import Job, Jobs
from tres.dashboard.metrics_endpoint import MetricsEndpoint
from tres.dashboard.query_process import Answers
from tres.dashboard.run_counts import Json
from tres.dashboard.run_files import without_path
from tres.dashboard.run_list import Runs
from tres.dashboard.run_orders import give_order, judge
from tres.dashboard.security import COOKIE, AccessRules, Guard, RefusedError, caller, refusal
from tres.dashboard.started_crawls import Crawls
from tres.dashboard.topic_list import topics_in
from tres.errors import TresError
from tres.report.metrics import CONTENT_TYPE
from tres.report.palette import PALETTE
from tres.store.run_directory import is_exploring

STATIC = Path(__file__).parent / "static"
CHARTS = Path(str(files("chartkick"))) / "django" / "static" / "chartkick" / "Chart.bundle.js"
"""Chart.js, as the package `chartkick` ships it."""
PALETTE_CSS = "".join(
    f":root{{--{name}:light-dark({colour.light},{colour.dark})}}\n"
    for name, colour in PALETTE.items()
)
PATIENCE = 0.3
"""Seconds that a list may spend on runs that nobody has read before; the next one goes on."""
FOLD_AGAIN = 15.0
"""Seconds between two looks at a frontier, at least; and ten times what the last one took."""
SITES = 50
MOST_TEXTS = 30
"""Pages whose text is told at once."""
STEP = re.compile("[1-9][0-9]{0,8}")


class Dashboard:
    """What the routes share."""

    def __init__(
        self, runs: Runs, access: AccessRules, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.runs = runs
        self.access = access
        self.clock = clock
        self.jobs = Jobs(clock)
        self.answers = Answers()
        self.crawls = Crawls()
        self.downloads = Downloads()
        self.metrics_endpoint = MetricsEndpoint()

    def app(self) -> ASGIApp:
        """The application, behind its guard."""
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
            HTTPException: _no_such,
            Exception: _bug,
        }
        app = Starlette(routes=routes, exception_handlers=answers, lifespan=self._life)
        return Guard(app, self.access)

    @asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        yield
        await self.jobs.close()
        self.answers.close()

    async def page(self, request: Request) -> Response:
        """The one page; scripts fill it."""
        return FileResponse(STATIC / "index.html")

    async def charts(self, request: Request) -> Response:
        """The library of charts, from its own package."""
        return FileResponse(CHARTS)

    async def palette(self, request: Request) -> Response:
        """The colours, which are those of the report."""
        return Response(PALETTE_CSS, media_type="text/css")

    async def login(self, request: Request) -> Response:
        """A token for a cookie."""
        token = (await _body(request)).get("token")
        if not isinstance(token, str) or not self.access.opens(token, caller(request.scope)):
            raise RefusedError(401, "this is not the token that 'tres dashboard' has printed")
        answer = JSONResponse({"said": "Welcome."})
        answer.set_cookie(COOKIE, self.access.pass_, httponly=True, samesite="strict", path="/")
        return answer

    async def metrics(self, request: Request) -> Response:
        """The newest runs, as Prometheus reads them."""
        text = await run_in_threadpool(lambda: self.metrics_endpoint.text(self.runs.all()))
        return Response(text, media_type=CONTENT_TYPE)

    async def list(self, request: Request) -> Response:
        """All runs, in a few numbers each."""
        return JSONResponse(await run_in_threadpool(self._listed))

    def _listed(self) -> Json:
        until = self.clock() + PATIENCE
        lines, runs = [], self.runs.all()
        for run in runs:
            if run.is_read or self.clock() < until:
                lines.append(run.listed())
            else:
                lines.append({"key": run.key, "name": run.name})
        begun = self.crawls.without_run({run.directory for run in runs})
        return {
            "version": __version__,
            "runs": lines,
            "begun": begun,
            "can_begin": self.runs.home is not None,
        }

    async def topics(self, request: Request) -> Response:
        """What can be crawled."""
        found = await run_in_threadpool(topics_in, self._folder())
        return JSONResponse({"topics": [topic.told() for topic in found]})

    async def crawl(self, request: Request) -> Response:
        """Begin a crawl of one of the topics."""
        wanted, folder = (await _body(request)).get("topic"), self._folder()
        found = await run_in_threadpool(topics_in, folder)
        topic = next((topic for topic in found if topic.key == wanted), None)
        if topic is None:
            raise RefusedError(404, "there is no such topic file; reload the page")
        assert self.runs.home is not None
        begin = partial(self.crawls.begin, topic, self.runs.home)
        return JSONResponse({"said": await run_in_threadpool(begin)})

    def _folder(self) -> Path:
        """Where topic files lie: beside the directory of all runs."""
        if self.runs.home is None:
            raise RefusedError(
                409, "this dashboard shows a few runs only; start it without naming any"
            )
        return self.runs.home.absolute().parent

    async def run(self, request: Request) -> Response:
        """One run: what the browser has not got yet."""
        run = self._asked(request)
        told = await run_in_threadpool(run.told, _since(request))
        told["begun_here"] = self.crawls.runs_here(run)
        told["formats"] = await run_in_threadpool(formats_of, run)
        told["learning"] = self._work(self.jobs.get("learn", run))
        told["problem"] = told["problem"] or without_path(self.crawls.problem(run), run.directory)
        return JSONResponse(told)

    async def frontier(self, request: Request) -> Response:
        """What waits, as of the step at which somebody last looked; looks again if it is time."""
        run = self._asked(request)
        job = self.jobs.get("frontier", run)
        known = -1 if job.result is None else job.result.get("step", -1)
        pause = max(FOLD_AGAIN, 10 * job.took)
        if known != run.counts.pages and self.clock() - job.began >= pause:
            job = self.jobs.start("frontier", run)
        gave = await run_in_threadpool(run.sites, SITES)
        return JSONResponse(self._work(job) | {"gave": gave})

    async def explain(self, request: Request) -> Response:
        """Why a page was fetched; `wait` also for what takes long to find out."""
        run, (step,) = self._asked(request), _steps(request, "step", 1)
        wait = request.query_params.get("wait") == "1"
        answer = partial(self.answers.ask, "explain", run, step=step, wait=wait)
        return JSONResponse(await run_in_threadpool(answer))

    async def texts(self, request: Request) -> Response:
        """What some pages say, as far as it is needed to judge them."""
        run, steps = self._asked(request), _steps(request, "steps", MOST_TEXTS)
        return JSONResponse(
            await run_in_threadpool(partial(self.answers.ask, "texts", run, steps=steps))
        )

    async def report(self, request: Request) -> Response:
        """The report of a run as it is now."""
        return await self.downloads.report(self._asked(request))

    async def export(self, request: Request) -> Response:
        """The pages of a run as a file."""
        form = request.query_params.get("to", "")
        relevant = request.query_params.get("relevant") == "1"
        return await self.downloads.export(self._asked(request), form, relevant)

    async def order(self, request: Request) -> Response:
        """Tell a crawl that is going on something."""
        run, wanted = self._asked(request), await _body(request)
        if wanted == {"order": "stop"} and is_exploring(run.directory):
            return JSONResponse({"said": self.crawls.stop(run)})
        return JSONResponse({"said": await run_in_threadpool(give_order, run, wanted)})

    async def judgement(self, request: Request) -> Response:
        """Keep a judgement."""
        run, wanted = self._asked(request), await _body(request)
        return JSONResponse({"said": await run_in_threadpool(judge, run, wanted)})

    async def learn(self, request: Request) -> Response:
        """Train the model anew with all judgements."""
        self.jobs.start("learn", self._asked(request))
        return JSONResponse({"said": "The model learns from the judgements."})

    async def resume(self, request: Request) -> Response:
        """Go on with a run that has ended."""
        run, wanted = self._asked(request), await _body(request)
        return JSONResponse({"said": await run_in_threadpool(self.crawls.resume, run, wanted)})

    async def _problem(self, request: Request, problem: Exception) -> Response:
        """What the user can put right; where the run lies is nobody's business."""
        assert isinstance(problem, TresError)
        run = self.runs.get(request.path_params.get("key", ""))
        message = problem.message
        return JSONResponse(
            {"error": message if run is None else without_path(message, run.directory)}, 409
        )

    def _work(self, job: Job) -> Json:
        """What is known of a job, and for how long it has been done."""
        spent = round(self.clock() - job.began) if job.runs else 0
        return {
            "busy": job.runs,
            "result": job.result,
            "progress": job.progress,
            "seconds": spent,
        }

    def _asked(self, request: Request) -> FollowedRun:
        run = self.runs.get(request.path_params["key"])
        if run is None:
            raise HTTPException(404)
        return run


def _since(request: Request) -> Since:
    names = ("edition", "stride", "point", "page", "failed")
    return Since(**{name: _number(request, name) for name in names})


def _steps(request: Request, name: str, most: int) -> list[int]:
    """Numbers of pages in a request; `RefusedError` if they are none."""
    texts = request.query_params.get(name, "").split(",")
    if len(texts) > most or not all(STEP.fullmatch(text) for text in texts):
        raise RefusedError(400, f"{name}: give the number of a page, such as {name}=12")
    return [int(text) for text in texts]


def _number(request: Request, name: str) -> int:
    """A number of the request; 0 if it is none."""
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


async def _no_such(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return JSONResponse({"error": "there is nothing here"}, problem.status_code)


async def _bug(request: Request, problem: Exception) -> Response:
    return JSONResponse({"error": "something went wrong; the terminal says more"}, 500)
