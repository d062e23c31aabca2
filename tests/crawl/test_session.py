"""The session, page by page: what is a step, what is a failure, when it ends, what it tells."""

from __future__ import annotations

from math import log

import pytest
from tests.support.webs import Run, To, drive, missing, page, start, web_of

from tres.crawl.events import Done, Fetch, FetchFailed, LeafSplit, SiteCapped, StopReason, Wait
from tres.policies.setup import PolicySettings
from tres.web.page import Failed, FailureKind

BREADTH_FIRST = PolicySettings("breadth-first", "paper")


class TestSteps:
    def test_pages_come_with_parent_features_and_judgement(self) -> None:
        web = web_of(page("a/0", 0.9, To("b/1", 0.3, url_keyword=True)), page("b/1", 0.2))
        seed, child = drive(start(web, ["a/0"], BREADTH_FIRST), web).steps
        assert (seed.step, seed.parent, seed.site, seed.relevant) == (1, None, "a", True)
        assert (child.step, child.parent, child.relevance, child.relevant) == (2, "a/0", 0.2, False)
        # The parent is relevant (1), one edge away (1), all of the path is relevant (1); a
        # keyword in the URL, none in the anchor, 0.3; nothing is known of site b (0.5, 0.5).
        assert list(child.features.values()) == pytest.approx([1, 1, 1, 1, 0, 0.3, 0.5, 0.5])

    def test_a_seed_has_zero_state_features_and_those_of_its_url(self) -> None:
        web = web_of(page("a/0", 0.1))
        session = start(web, [To("a/0", 0.7, url_keyword=True)], BREADTH_FIRST)
        (seed,) = drive(session, web).steps
        assert list(seed.features.values()) == pytest.approx([0, 0, 0, 1, 0, 0.7, 0.5, 0.5])

    def test_figure_2_of_the_paper_built_through_a_crawl(self) -> None:
        # Seed and A are relevant, B and C are not; C holds the link to D (classifier: 0.3, no
        # keyword). On D's site, 3 of 4 fetched pages are relevant: the seed and A, B, and one
        # more page E that is relevant too; C lies elsewhere.
        web = web_of(
            page("w/seed", 0.9, "w/A", "w/B", "w/E"),
            page("w/A", 0.9, "c/C"),
            page("w/B", 0.1),
            page("w/E", 0.9),
            page("c/C", 0.1, To("w/D", 0.3)),
            page("w/D", 0.9),
        )
        last = drive(start(web, ["w/seed"], BREADTH_FIRST), web).steps[-1]
        assert (last.url, last.parent) == ("w/D", "c/C")
        state, action, site = [0, 1 / 2, 2 / 3], [0, 0, 0.3], [3 / 4, 1]
        assert list(last.features.values()) == pytest.approx(state + action + site)

    def test_evidence_gathered_through_a_crawl(self) -> None:
        # u/1 is cited by the seed (0.9, other site) and by u/0 (0.2, same site), in this order;
        # it is chosen after both. Anchors 0.4 and 0.8. Paths: from the seed (distance 1, all of
        # one page relevant), from u/0 (distance 2, one of two): the first is the better one.
        web = web_of(
            page("s/0", 0.9, "u/0", To("u/1", 0.4)),
            page("u/0", 0.2, To("u/1", 0.8, anchor_keyword=True)),
            page("u/1", 0.9),
        )
        session = start(web, ["s/0"], PolicySettings("breadth-first", "evidence"))
        last = drive(session, web).steps[-1]
        assert (last.url, last.parent) == ("u/1", "s/0")
        assert last.features == pytest.approx(
            {
                "citations": log(1 + 2),
                "relevant_citations": log(1 + 1),
                "relevant_share": 1 / 2,
                "parent_relevance_mean": (0.9 + 0.2) / 2,
                "parent_relevance_max": 0.9,
                "anchor_relevance_mean": 0.6,
                "anchor_relevance_max": 0.8,
                "url_keyword": 0,
                "anchor_keyword": 1,
                "path_relevance": 1,
                "inverse_distance": 1,
                "same_site": 1,
                "siblings_relevance": (0.2 + 0.5) / (1 + 1),  # u/0, the other link of the seed
                "best_hub": 0.2 / (1 + 2),
                "neighbours_relevance": (0.2 + 0.5) / (1 + 1),  # u/0 again
                "words_relevance": pytest.approx(0.262, abs=1e-3),  # 0.269 before u/0
                "site_relevance": (0 + 0.5) / (1 + 1),  # u/0 was not relevant
                "site_fetched": log(1 + 1) / 3,
            }
        )

    def test_neighbours_are_counted_on_the_page_as_it_is_written(self) -> None:
        low = [page(f"s/{i}", 0.1) for i in range(1, 5)]
        last = page("s/5", 0.9, "s/0", "s/1", "s/2", "s/3", "s/4", "s/6")
        web = web_of(page("s/0", 0.9), *low, last, page("s/6", 0.9))
        session = start(web, [f"s/{i}" for i in range(6)], PolicySettings(features="evidence"))
        found = drive(session, web).steps[-1]
        assert found.url == "s/6"  # s/0 stands five links before it, and is no neighbour
        assert found.features["neighbours_relevance"] == pytest.approx((4 * 0.1 + 0.5) / (4 + 1))

    def test_a_citation_from_elsewhere_is_none_from_the_same_site(self) -> None:
        web = web_of(page("s/0", 0.9, "u/1", "s/1"), page("u/1", 0.9), page("s/1", 0.9))
        session = start(web, ["s/0"], PolicySettings("breadth-first", "evidence"))
        _, other, same = drive(session, web).steps
        assert (other.features["same_site"], same.features["same_site"]) == (0, 1)

    def test_a_failure_costs_no_step_and_is_counted_by_kind(self) -> None:
        web = web_of(page("a/0", 0.9, "a/dead", "a/huge", "a/gone"))
        web["a/huge"] = Failed("a/huge", FailureKind.TOO_LARGE)
        session = start(web, ["a/0"], BREADTH_FIRST, pages=2)
        run = drive(session, web)
        assert (session.steps, session.relevant, session.harvest_rate) == (1, 1, 1.0)
        assert session.failures == {FailureKind.NOT_FOUND: 2, FailureKind.TOO_LARGE: 1}
        assert FetchFailed("a/huge", FailureKind.TOO_LARGE, is_seed=False) in run.events
        assert run.reason is StopReason.FRONTIER_EXHAUSTED

    def test_splits_of_the_tree_are_told_with_the_name_of_the_feature(self) -> None:
        good = [To(f"a/g{i}", 0.9) for i in range(8)]
        bad = [To(f"a/b{i}", 0.1) for i in range(8)]
        web = web_of(page("a/0", 0.9, *good, *bad), *(page(to.url, 0.9) for to in good))
        web |= web_of(*(page(to.url, 0.1) for to in bad))
        session = start(web, [To("a/0", 0.9)], PolicySettings("tree-random", "no-site"))
        splits = [e for e in drive(session, web).events if isinstance(e, LeafSplit)]
        assert [split.feature for split in splits] == ["anchor_relevance"]
        assert splits[0].threshold == pytest.approx(0.5)
        assert session.policy.tree is not None
        assert session.policy.tree.leaves == 2

    def test_a_url_that_was_not_asked_for_cannot_come_back(self) -> None:
        web = web_of(page("a/0", 0.9))
        session = start(web, ["a/0"])
        with pytest.raises(KeyError, match="a/1"):
            session.receive("a/1", page("a/1", 0.9))
        session.next()
        session.receive("a/0", web["a/0"])
        with pytest.raises(KeyError, match="a/0"):
            session.receive("a/0", web["a/0"])


class TestSeeds:
    def test_seeds_come_first_and_in_their_order(self) -> None:
        web = web_of(page("a/0", 0.9, "x/1"), page("b/0", 0.9), page("c/0", 0.9), page("x/1", 0.9))
        assert drive(start(web, ["b/0", "a/0", "c/0"]), web).asked == ["b/0", "a/0", "c/0", "x/1"]

    def test_a_seed_that_another_seed_links_to_is_fetched_once(self) -> None:
        web = web_of(page("a/0", 0.9, "b/0", "c/1"), page("b/0", 0.9, "a/0"), page("c/1", 0.9))
        assert sorted(drive(start(web, ["a/0", "b/0"]), web).asked) == ["a/0", "b/0", "c/1"]

    def test_a_seed_that_another_seed_redirects_to_is_fetched_once(self) -> None:
        web = web_of(page("b/0", 0.9))
        web["a/0"] = page("b/0", 0.9)
        session = start(web, ["a/0", "b/0"])
        run = drive(session, web)
        assert [step.url for step in run.steps] == ["b/0"]
        assert session.failures == {FailureKind.ALREADY_FETCHED: 1}

    def test_a_seed_is_experience_of_reward_one_whatever_it_is_judged(self) -> None:
        # One irrelevant seed, four irrelevant pages: were the seed's experience 0 as well, all
        # rewards would be equal and the tree could not split.
        web = web_of(page("a/0", 0.1, *(f"a/{i}" for i in range(1, 9))))
        web |= web_of(*(page(f"a/{i}", 0.1) for i in range(1, 9)))
        session = start(web, ["a/0"], PolicySettings("tree-random", "paper"))
        run = drive(session, web)
        assert session.relevant == 0
        assert sum(isinstance(event, LeafSplit) for event in run.events) == 1


class TestDepth:
    def test_links_of_a_page_at_the_limit_are_no_actions(self) -> None:
        web = web_of(page("a/0", 0.9, "a/1"), page("a/1", 0.9, "a/2"), page("a/2", 0.9, "a/3"))
        run = drive(start(web, ["a/0"], max_clicks=1), web)
        assert run.asked == ["a/0", "a/1"]
        assert run.reason is StopReason.FRONTIER_EXHAUSTED

    def test_a_page_that_is_too_deep_on_one_path_can_be_reached_on_a_shorter_one(self) -> None:
        web = web_of(
            page("a/0", 0.9, "a/1"),
            page("a/1", 0.9, "a/2"),
            page("b/0", 0.9, "a/2"),
            page("a/2", 0.9),
        )
        assert "a/2" in drive(start(web, ["a/0", "b/0"], max_clicks=1), web).asked

    @pytest.mark.parametrize("limit", [None, 0])
    def test_without_a_limit_there_is_none(self, limit: int | None) -> None:
        chain = [page(f"a/{i}", 0.9, f"a/{i + 1}") for i in range(20)]
        web = web_of(*chain)
        assert len(drive(start(web, ["a/0"], max_clicks=limit), web).steps) == 20


class TestRedirects:
    def test_the_page_counts_where_it_was_found(self) -> None:
        web = web_of(page("a/0", 0.9, "a/old"), page("b/new", 0.9, "b/2"), page("b/2", 0.9))
        web["a/old"] = web["b/new"]
        session = start(web, ["a/0"], BREADTH_FIRST)
        steps = drive(session, web).steps
        assert [(step.url, step.site, step.parent) for step in steps] == [
            ("a/0", "a", None),
            ("b/new", "b", "a/0"),
            ("b/2", "b", "b/new"),
        ]
        assert session.relevant_sites == 2

    def test_to_a_fetched_page_is_a_failure_by_name(self) -> None:
        web = web_of(page("a/0", 0.9, "a/old"))
        web["a/old"] = web["a/0"]
        session = start(web, ["a/0"])
        drive(session, web)
        assert (session.steps, session.failures) == (1, {FailureKind.ALREADY_FETCHED: 1})

    def test_to_a_page_in_flight_is_a_failure_by_name(self) -> None:
        web = web_of(page("a/0", 0.9, "a/old", "b/new"), page("b/new", 0.9))
        session = start(web, ["a/0"], BREADTH_FIRST)
        self._fetch(session, web, "a/0")
        assert session.next(2) == Fetch(("a/old", "b/new"))
        (event,) = session.receive("a/old", page("b/new", 0.9))
        assert event == FetchFailed("a/old", FailureKind.ALREADY_FETCHED, is_seed=False)
        session.receive("b/new", page("b/new", 0.9))
        assert session.steps == 2

    def test_to_a_waiting_page_takes_it_out_of_the_frontier(self) -> None:
        web = web_of(page("a/0", 0.9, "a/old", "b/new"), page("b/new", 0.9))
        web["a/old"] = web["b/new"]
        run = drive(start(web, ["a/0"], BREADTH_FIRST), web)
        assert run.asked == ["a/0", "a/old"]
        assert [step.url for step in run.steps] == ["a/0", "b/new"]

    def test_to_a_site_that_has_given_all_it_may_is_a_failure_by_name(self) -> None:
        web = web_of(page("a/0", 0.9, "b/old"), page("a/1", 0.9))
        web["b/old"] = web["a/1"]
        session = start(web, ["a/0"], cap=1)
        drive(session, web)
        assert (session.steps, session.failures) == (1, {FailureKind.SITE_CAP: 1})

    def test_to_a_site_that_is_full_with_what_is_in_flight_is_a_failure_too(self) -> None:
        web = web_of(page("s/0", 0.9, "b/old", "a/1", "a/2"))
        session = start(web, ["s/0"], BREADTH_FIRST, cap=2)
        self._fetch(session, web, "s/0")
        assert session.next(3) == Fetch(("b/old", "a/1", "a/2"))
        (event,) = session.receive("b/old", page("a/3", 0.9))
        assert event == FetchFailed("b/old", FailureKind.SITE_CAP, is_seed=False)

    def test_within_a_site_the_cap_under_which_the_page_was_chosen_holds(self) -> None:
        # Budget 6, cap 4..1: 4 pages of a site at first, 2 from the second step on. a/1 and a/2
        # were chosen under a cap of 4, so that both may arrive, whether they moved or not.
        web = web_of(page("a/0", 0.9, "a/1", "a/2"))
        session = start(web, ["a/0"], BREADTH_FIRST, pages=6, cap="4..1")
        self._fetch(session, web, "a/0")
        assert session.next(2) == Fetch(("a/1", "a/2"))
        session.receive("a/1", page("a/1", 0.9))
        session.receive("a/2", page("a/moved", 0.9))
        assert (session.steps, session.failures) == (3, {})

    @staticmethod
    def _fetch(session, web, url: str) -> None:
        assert session.next() == Fetch((url,))
        session.receive(url, web[url])


class TestSiteCaps:
    def test_a_full_site_leaves_the_frontier_and_this_is_told_once(self) -> None:
        web = web_of(page("a/0", 0.9, "a/1", "a/2", "b/1"), page("a/1", 0.9, "a/3"))
        web |= web_of(page("b/1", 0.9, "a/4", "b/2"), page("b/2", 0.9))
        session = start(web, ["a/0"], BREADTH_FIRST, cap=2)
        run = drive(session, web)
        assert run.asked == ["a/0", "a/1", "b/1", "b/2"]
        capped = [event for event in run.events if isinstance(event, SiteCapped)]
        assert capped == [SiteCapped("a"), SiteCapped("b")]
        assert len(session.policy) == 0

    def test_seeds_of_a_full_site_are_dropped(self) -> None:
        web = web_of(page("a/0", 0.9), page("a/1", 0.9), page("b/0", 0.9))
        assert drive(start(web, ["a/0", "a/1", "b/0"], cap=1), web).asked == ["a/0", "b/0"]

    def test_a_falling_cap_over_a_budget(self) -> None:
        # Budget 9, cap 5..2: 5 until step 3 has been made, then max(5 // 2, 2) = 2, and 2 again
        # from step 6 on (5 // 4 = 1, but not below 2). Breadth-first takes a/0, a/1, a/2: the
        # third step brings the cap down to 2, and site a (3 pages) leaves with a/3 and a/4.
        # Then b gives two, c two, and d two.
        pages = [f"{site}/{i}" for site in "abcd" for i in range(5)]
        web = web_of(*(page(url, 0.9, *pages) for url in pages))
        session = start(web, ["a/0"], BREADTH_FIRST, pages=9, cap="5..2")
        run = drive(session, web)
        expected = ["a/0", "a/1", "a/2", "b/0", "b/1", "c/0", "c/1", "d/0", "d/1"]
        assert run.asked == expected
        capped = [event.site for event in run.events if isinstance(event, SiteCapped)]
        assert capped == ["a", "b", "c", "d"]

    def test_when_the_cap_falls_every_site_above_it_leaves(self) -> None:
        # Budget 6, cap 4..2: after two pages each of a and b, at step 4, the cap is
        # max(4 // 4, 2) = 2; but it has been 2 since step 2, when both sites had one page.
        # With five pages each and budget 12 (cap 4 until step 4) both have two: both leave.
        pages = [f"{site}/{i}" for i in range(5) for site in "ab"]
        web = web_of(*(page(url, 0.9, *pages) for url in pages))
        run = drive(start(web, ["a/0"], BREADTH_FIRST, pages=12, cap="4..2"), web)
        assert run.asked == ["a/0", "b/0", "a/1", "b/1"]
        assert run.reason is StopReason.FRONTIER_EXHAUSTED

    def test_what_is_in_flight_counts(self) -> None:
        web = web_of(page("s/0", 0.9, "a/1", "a/2", "a/3", "b/1"))
        session = start(web, ["s/0"], BREADTH_FIRST, cap=2)
        session.next()
        session.receive("s/0", web["s/0"])
        assert session.next(4) == Fetch(("a/1", "a/2", "b/1"))
        assert session.next(1) == Wait()
        session.receive("a/1", missing("a/1"))  # gave no page, so the site may give another
        assert session.next(1) == Fetch(("a/3",))


class TestWaiting:
    def test_a_site_that_must_wait_is_passed_over(self) -> None:
        web = web_of(page("s/0", 0.9, "a/1", "b/1", "a/2", "c/1"))
        session = start(web, ["s/0"], BREADTH_FIRST)
        session.next()
        session.receive("s/0", web["s/0"])
        assert session.next(9, waiting=["a", "unheard-of"]) == Fetch(("b/1", "c/1"))
        assert session.next(9) == Fetch(("a/1", "a/2"))

    def test_the_names_of_waiting_sites_may_come_from_a_generator(self) -> None:
        web = web_of(page("s/0", 0.9, "a/1", "b/1", "a/2", "c/1"))
        session = start(web, ["s/0"], BREADTH_FIRST)
        session.next()
        session.receive("s/0", web["s/0"])
        assert session.next(9, waiting=(site for site in "a")) == Fetch(("b/1", "c/1"))

    def test_seeds_wait_as_well_and_keep_their_order(self) -> None:
        session = start({}, ["a/0", "b/0", "a/1", "c/0"])
        assert session.next(2, waiting=["a"]) == Fetch(("b/0", "c/0"))
        assert session.next(2, waiting=["a"]) == Wait()
        assert session.next(2) == Fetch(("a/0", "a/1"))

    def test_when_every_site_must_wait_so_must_the_crawl(self) -> None:
        web = web_of(page("s/0", 0.9, "a/1", "b/1"))
        session = start(web, ["s/0"])
        session.next()
        session.receive("s/0", web["s/0"])
        assert session.next(1, waiting=["a", "b"]) == Wait()
        assert isinstance(session.next(1, waiting=["a"]), Fetch)


class TestEnd:
    def test_the_budget_is_spent(self) -> None:
        run = self._crawl_a_chain(budget=3)
        assert (run.reason, len(run.steps)) == (StopReason.BUDGET, 3)

    def test_the_frontier_is_exhausted(self) -> None:
        run = self._crawl_a_chain(budget=30)
        assert (run.reason, len(run.steps)) == (StopReason.FRONTIER_EXHAUSTED, 5)

    def test_a_budget_that_the_last_page_just_spends_is_a_budget_spent(self) -> None:
        assert self._crawl_a_chain(budget=5).reason is StopReason.BUDGET

    @pytest.mark.parametrize("seeds", [[], ["a/0"], ["a/0", "b/0"]])
    def test_no_seed_answered(self, seeds: list[str]) -> None:
        run = drive(start({}, seeds), {})
        assert (run.reason, run.asked, run.steps) == (StopReason.NO_SEED, seeds, [])

    def test_no_more_is_in_flight_than_the_budget_allows(self) -> None:
        web = web_of(page("a/0", 0.9, *(f"a/{i}" for i in range(1, 9))))
        session = start(web, ["a/0"], BREADTH_FIRST, pages=3)
        session.next(16)
        session.receive("a/0", web["a/0"])
        assert session.next(16) == Fetch(("a/1", "a/2"))
        assert session.next(16) == Wait()
        session.receive("a/1", missing("a/1"))
        assert session.next(16) == Fetch(("a/3",))

    def test_an_interrupted_crawl_ends_after_what_is_in_flight(self) -> None:
        web = web_of(page("a/0", 0.9, "a/1", "a/2", "a/3"), page("a/1", 0.9), page("a/2", 0.9))
        session = start(web, ["a/0"], BREADTH_FIRST)
        session.next()
        session.receive("a/0", web["a/0"])
        session.next(2)
        session.interrupt()
        assert session.next(2) == Wait()
        session.receive("a/2", web["a/2"])
        assert session.next(2) == Wait()
        session.receive("a/1", web["a/1"])
        assert session.next(2) == Done(StopReason.INTERRUPTED)
        assert session.steps == 3

    @staticmethod
    def _crawl_a_chain(budget: int) -> Run:
        web = web_of(*(page(f"a/{i}", 0.9, f"a/{i + 1}") for i in range(5)))
        return drive(start(web, ["a/0"], pages=budget), web)
