"""The topic file: what it means, and what happens when it is wrong."""

import math
import re
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.errors import ConfigError
from tres.settings.policy_names import POLICIES
from tres.settings.sections import (
    PRESETS,
    AgentSection,
    CrawlSection,
    LiveSection,
    TopicSection,
    TrainingSection,
    TreeSection,
)
from tres.settings.site_caps import SiteCap
from tres.settings.topic_file import KEYS, RETIRED, TopicConfig, load_topic

SMALLEST = """
[topic]
keywords = ["biology"]
[training]
labels = ["Science/Biology"]
"""
UNKNOWN_TOPIC = (
    "name some words that pages about the topic use, or say in topic.description what they are "
    "about"
)


@pytest.fixture
def topic(tmp_path, monkeypatch):
    """Write a topic file and load it, from the directory it stands in."""
    monkeypatch.chdir(tmp_path)

    def load(text, name="bio.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return load_topic(name)

    return load


@pytest.fixture
def refusal(topic):
    """The message with which a topic file is refused."""

    def message(text):
        with pytest.raises(ConfigError) as caught:
            topic(text)
        assert caught.value.exit_code == 2
        return caught.value.message

    return message


# What a file means


def test_the_smallest_file_and_its_defaults(topic):
    config = topic(SMALLEST)

    assert config.name == "bio"
    assert config.topic == TopicSection(keywords=("biology",), phrases=(), seeds=())
    assert config.training == TrainingSection(labels=("Science/Biology",))
    assert (config.training.relevant, config.training.irrelevant) == (150, 1000)
    assert config.crawl == CrawlSection(
        pages=2000,
        max_per_site=SiteCap(),
        policy="tres",
        features="auto",
        seed=1,
        site="host",
        in_flight=1,
    )


def test_every_setting_can_be_written(topic, tmp_path):
    (tmp_path / "my-vectors.txt").touch()
    config = topic(
        """
        name = "marine biology"
        [topic]
        keywords = ["biology", " cell "]
        phrases = ["natural selection"]
        seeds = ["https://example.org/life"]
        expand = true
        strike = ["form"]
        vectors = "my-vectors.txt"
        min_documents = 1
        contrast = 0
        common_components = 0
        [training]
        labels = ["Science/Biology", "Sea"]
        relevant = 10
        irrelevant = 20
        model = "tfidf"
        [crawl]
        pages = 300
        max_per_site = "5..2"
        policy = "tree-random"
        features = "paper"
        seed = 0
        site = "domain"
        in_flight = 16
        [tree]
        min_split = 6
        max_depth = 9
        representatives = 1
        [agent]
        gamma = 0
        hidden = [8]
        learning_rate = 1e-2
        batch = 1
        replay = 100
        target_every = 7
        updates = 3
        soft = false
        new_sites = 0.5
        warmup = 0
        guided = 7
        epsilon = 1
        """
    )

    assert config.name == "marine biology"
    assert config.topic.keywords == ("biology", "cell")
    assert (config.topic.expand, config.topic.strike) == (True, ("form",))
    assert config.topic.vectors == tmp_path / "my-vectors.txt"
    assert config.crawl.max_per_site == SiteCap(5, 2)
    assert config.crawl.policy == "tree-random"
    assert config.tree == TreeSection(min_split=6, max_depth=9, representatives=1)
    assert config.agent.hidden == (8,)
    assert config.agent.gamma == 0.0


def test_the_papers_preset_changes_defaults_but_not_what_is_written(topic):
    config = topic(f"{SMALLEST}[crawl]\npreset = 'paper'\n[agent]\nwarmup = 7")

    assert (config.crawl.features, config.tree.representatives) == ("paper", 1)
    assert (config.agent.updates, config.agent.soft, config.agent.guided) == (1, False, 0)
    assert config.agent.warmup == 7


def test_a_preset_can_be_given_as_an_override_and_written_down(topic, tmp_path):
    plain = topic(SMALLEST)
    paper = plain.override(preset="paper", epsilon=0.5)
    (tmp_path / "again.toml").write_text(paper.to_toml())

    assert (paper.crawl.features, paper.agent.warmup, paper.agent.epsilon) == ("paper", 100, 0.5)
    assert load_topic(tmp_path / "again.toml") == paper
    assert plain.override(preset="tres") == plain


def test_every_setting_of_a_preset_differs_from_the_default(topic):
    plain = topic(SMALLEST)
    paper = plain.override(preset="paper")
    same = {"tree.min_split", "agent.gamma", "agent.new_sites"}  # as in the paper already
    for key in PRESETS["paper"]:
        section, _, name = key.partition(".")
        differs = getattr(getattr(plain, section), name) != getattr(getattr(paper, section), name)
        assert differs == (key not in same), key


@pytest.mark.parametrize(
    ("written", "cap"),
    [('"inf"', SiteCap()), ("inf", SiteCap()), ("10", SiteCap(10)), ('"5..2"', SiteCap(5, 2))],
)
def test_the_ways_to_write_a_site_cap(topic, written, cap):
    assert topic(f"{SMALLEST}[crawl]\nmax_per_site = {written}").crawl.max_per_site == cap


def test_paths_are_relative_to_the_topic_file(topic, tmp_path, monkeypatch):
    (tmp_path / "good").mkdir()
    (tmp_path / "bad.jsonl").touch()
    text = '[topic]\nkeywords = ["x"]\n[training]\npositives = "good"\nnegatives = "bad.jsonl"'
    topic(text)
    monkeypatch.chdir("/")

    training = load_topic(tmp_path / "bio.toml").training

    assert (training.positives, training.negatives) == (tmp_path / "good", tmp_path / "bad.jsonl")


def test_vectors_are_a_name_or_a_file_beside_the_topic_file(topic, tmp_path):
    (tmp_path / "my.vec").touch()
    text = SMALLEST.replace("[topic]", "[topic]\nvectors = 'my.vec'")

    assert topic(SMALLEST).topic.vectors == "glove-6b-50d"
    assert topic(text).topic.vectors == tmp_path / "my.vec"


def test_a_byte_order_mark_is_no_obstacle(topic):
    assert topic("\ufeff" + SMALLEST).topic.keywords == ("biology",)


# What is refused: exactly one line with file, key and what is valid


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("[crawl]\npage = 5", "unknown setting crawl.page; did you mean crawl.pages?"),
        ("[crawl]\nkeywords = 5", "unknown setting crawl.keywords; did you mean topic.keywords?"),
        (
            "[tree]\nqqq = 5",
            "unknown setting tree.qqq; valid: tree.min_split, tree.max_depth, tree.representatives",
        ),
        ("[crawler]\npages = 5", "unknown section [crawler]; did you mean [crawl]?"),
        (
            "[x]",
            "unknown section [x]; valid: [topic], [training], [crawl], [live], [tree], [agent]",
        ),
        ("[crawl]\npages = 0", "crawl.pages must be a whole number of at least 1, not 0"),
        ("[crawl]\npages = true", "crawl.pages must be a whole number of at least 1, not True"),
        ("[crawl]\npages = 2e3", "crawl.pages must be a whole number of at least 1, not 2000.0"),
        ("[crawl]\nseed = -1", "crawl.seed must be a whole number of at least 0, not -1"),
        ("[crawl]\nin_flight = 65", "crawl.in_flight must be a whole number from 1 to 64, not 65"),
        (
            "[live]\nmax_bytes = 50000001",
            "live.max_bytes must be a whole number from 1 to 50000000, not 50000001",
        ),
        (
            "[crawl]\npolicy = 'tress'",
            f"crawl.policy must be one of {', '.join(POLICIES)}, "
            "or package.module:Name, not 'tress'",
        ),
        (
            "[crawl]\nfeatures = 3",
            "crawl.features must be one of auto, evidence, no-neighbours, no-siblings, no-words, "
            "citations, paper, no-site, not 3",
        ),
        ("[crawl]\nsite = 'page'", "crawl.site must be one of host, domain, not 'page'"),
        (
            "[crawl]\nmax_per_site = '2..5'",
            'crawl.max_per_site must be "inf", a whole number of at least 1, or a falling cap '
            "such as \"5..2\", not '2..5'",
        ),
        ("[agent]\ngamma = 1", "agent.gamma must be a number of at least 0 and below 1, not 1"),
        ("[agent]\nepsilon = nan", "agent.epsilon must be a number from 0 to 1, not nan"),
        (
            "[agent]\nlearning_rate = 0.0",
            "agent.learning_rate must be a number above 0 and at most 1, not 0.0",
        ),
        ("[agent]\nhidden = []", "agent.hidden must be a list of layer sizes with at least 1 item"),
        (
            "[agent]\nhidden = [30, 0]",
            "agent.hidden must be a list of layer sizes: each must be a whole number from 1 to "
            "1000, not 0",
        ),
        (
            "[agent]\nhidden = [1000000, 1000000]",
            "agent.hidden must be a list of layer sizes: each must be a whole number from 1 to "
            "1000, not 1000000",
        ),
        (
            "[agent]\nhidden = [9, 9, 9, 9, 9, 9, 9, 9, 9]",
            "agent.hidden must be a list of layer sizes with at most 8 items",
        ),
        (
            "[agent]\nbatch = 1000000000000",
            "agent.batch must be a whole number from 1 to 10000, not 1000000000000",
        ),
        (
            "[tree]\nrepresentatives = 1000000000000",
            "tree.representatives must be a whole number from 1 to 1000, not 1000000000000",
        ),
        (
            "[tree]\nmin_split.a = 5",
            "tree.min_split must be a whole number of at least 2, not a section",
        ),
    ],
)
def test_wrong_settings(refusal, added, message):
    assert refusal(SMALLEST + added) == f"bio.toml: {message}"


def test_a_retired_setting_is_ignored_with_its_harmless_value(topic, refusal):
    assert topic(SMALLEST + "eight_bit = false") == topic(SMALLEST)
    assert "eight_bit" not in topic(SMALLEST + "eight_bit = false").to_toml()
    assert refusal(SMALLEST + "eight_bit = true") == (
        "bio.toml: training.eight_bit is no longer a setting: "
        "neural models always answer exactly; remove the line"
    )
    assert refusal(SMALLEST + "[crawl]\neight_bit = false").startswith(
        "bio.toml: unknown setting crawl.eight_bit; "
    )


def test_how_far_earlier_versions_explored_is_ignored_as_old_runs_say_it(topic):
    assert topic(SMALLEST + "explore = 100") == topic(SMALLEST)


def test_a_topic_that_is_described_needs_no_keywords(topic):
    described = topic("[topic]\ndescription = 'How animals and plants live.'")
    assert (described.topic.keywords, described.training.learns) == ((), True)


def test_without_examples_the_crawl_teaches_the_model_and_with_them_it_does_not(topic):
    assert topic("[topic]\nkeywords = ['biology']").training.learns
    assert not topic(SMALLEST).training.learns
    assert topic(SMALLEST).training.model == "auto"


def test_no_setting_is_both_retired_and_in_use():
    assert not RETIRED.keys() & set(KEYS)


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("expand = 1", "topic.expand must be true or false, not 1"),
        ("strike = 'form'", "topic.strike must be a list of words, not 'form'"),
        ("contrast = -1", "topic.contrast must be a number from 0 to 1000, not -1"),
        ("strikes = []", "unknown setting topic.strikes; did you mean topic.strike?"),
        (
            "vectors = 5",
            "topic.vectors must be text, not 5; known names: glove-6b-50d",
        ),
    ],
)
def test_wrong_settings_of_expansion(refusal, added, message):
    text = SMALLEST.replace("[topic]", f"[topic]\n{added}")

    assert refusal(text) == f"bio.toml: {message}"


def test_vectors_that_are_neither_a_name_nor_a_file(refusal, tmp_path):
    assert refusal(SMALLEST.replace("[topic]", "[topic]\nvectors = 'glove'")) == (
        f"bio.toml: topic.vectors names {tmp_path / 'glove'}, which does not exist; "
        "known names: glove-6b-50d"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pages = 5", "pages is not in a section; did you mean crawl.pages?"),
        ("crawl = 5" + SMALLEST, "crawl must be a section, [crawl], not 5"),
        ("name = 5" + SMALLEST, "name must be text, not 5"),
        ("", f"topic.keywords is missing: {UNKNOWN_TOPIC}"),
        ("[topic]\nkeywords = []", f"topic.keywords is missing: {UNKNOWN_TOPIC}"),
        ("[topic]\nkeywords = 'a'", "topic.keywords must be a list of words, not 'a'"),
        (
            "[topic]\nkeywords = [' ']",
            "topic.keywords must be a list of words: each must not be empty",
        ),
        (
            "[topic]\nkeywords = ['a']\nseeds = ['example.org']",
            "topic.seeds must be a list of web addresses: each must start with http:// or "
            "https:// and name a host, not 'example.org'",
        ),
        (
            "[topic]\nkeywords = ['a']\n[training]\nmodel = 'svm'",
            "training names no source of examples; give exactly one of labels, positives with "
            'negatives, or load, or set model = "auto"',
        ),
        (
            "[topic]\nkeywords = ['a']\n[training]\nlabels = ['a']\nload = '.'",
            "training names 2 sources of examples; give exactly one of labels, positives with "
            "negatives, or load",
        ),
        (
            "[topic]\nkeywords = ['a']\n[training]\npositives = '.'",
            "training.negatives is missing: both kinds of examples are needed",
        ),
    ],
)
def test_wrong_files(refusal, text, message):
    assert refusal(text) == f"bio.toml: {message}"


@pytest.mark.parametrize(
    "seed", ["http://", "ftp://example.org/", "http://[::1", "http://a b/", "http://a\x1b/", ""]
)
def test_a_seed_must_be_a_web_address(seed):
    with pytest.raises(ConfigError, match=r"^topic\.seeds must be a list of web addresses: each"):
        TopicSection(keywords=("x",), seeds=(seed,))


def test_a_file_that_the_topic_file_names_must_be_there(refusal, tmp_path):
    text = "[topic]\nkeywords = ['a']\n[training]\nload = 'models/bio'"

    missing = tmp_path / "models" / "bio"
    assert refusal(text) == f"bio.toml: training.load names {missing}, which does not exist"


def test_a_missing_topic_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"^bio\.toml: no such file; check the path"):
        load_topic("bio.toml")


def test_a_directory_is_no_topic_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bio.toml").mkdir()
    with pytest.raises(ConfigError, match=r"^bio\.toml: cannot be read: Is a directory$"):
        load_topic("bio.toml")


@pytest.mark.parametrize(
    "content", [b"pages 5", b"\xff\xfe", b"[topic]\n[topic]", b"a = " + b"[" * 100_000]
)
def test_files_that_are_not_toml(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bio.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"^bio\.toml: is not valid TOML: .+$"):
        load_topic("bio.toml")


@pytest.mark.parametrize("many", [".".join("a" * 50_000), "'a' . " * 50_000 + "a"])
@pytest.mark.parametrize("form", ["{} = 1", "[{}]", 'a = {{ s = """#""""", {} = 1 }}'])
def test_a_key_of_many_parts(refusal, form, many):
    assert refusal(form.format(many)) == (
        "bio.toml: is not valid TOML: a key has more than 16 parts"
    )


def test_dots_outside_of_keys_are_no_parts(topic):
    dots = ".".join("a" * 50)
    text = f"""# {dots}
name = "{dots}"{SMALLEST}[live]
user_agent = '''{dots}'''
exclude = ["{dots}", '{dots}', \"\"\"
{dots}\\"\"\"\"]"""
    assert topic(text).name == dots
    assert topic(text).live.exclude == (dots, dots, f'{dots}"')


def test_a_file_that_is_too_large(tmp_path):
    (tmp_path / "bio.toml").write_bytes(b"#" * 16_000_001)
    with pytest.raises(ConfigError, match=r"cannot be read: it holds more than 16,000,000 bytes$"):
        load_topic(tmp_path / "bio.toml")


@pytest.mark.parametrize(
    ("section", "most"), [("keywords", 100), ("phrases", 100), ("strike", 100)]
)
def test_keywords_have_a_greatest_length(section, most):
    given = {"keywords": ("x",), section: ("b" * most,)}
    assert getattr(TopicSection(**given), section) == ("b" * most,)
    with pytest.raises(ConfigError, match=r"must have at most 100 characters, not 5,000,000$"):
        TopicSection(**given | {section: ("b" * 5_000_000,)})


def test_a_text_has_a_greatest_length(refusal):
    message = refusal(f'{SMALLEST}[live]\ncontact = "{"x" * 10_001}"')
    assert message == "bio.toml: live.contact must have at most 10,000 characters, not 10,001"


def test_a_key_of_megabytes_is_shown_short(refusal):
    message = refusal(f"{SMALLEST}[crawl]\n{'x' * 5_000_000} = 1")
    assert len(message) < 5_000
    assert message.startswith("bio.toml: unknown setting crawl.xxx")
    assert message.endswith("crawl.indexed")


def test_long_and_hostile_values_are_shown_short_and_escaped(refusal):
    message = refusal(f'{SMALLEST}[crawl]\npolicy = "\\u001b[31m{"x" * 500}"')

    assert message.endswith(r"not '\x1b[31m" + "x" * 48 + "...")


# Overrides


@pytest.fixture
def config():
    return TopicConfig(
        name="bio",
        topic=TopicSection(keywords=("biology",)),
        training=TrainingSection(labels=("Science/Biology",)),
    )


def test_settings_are_overridden_by_dotted_or_plain_key(config):
    changed = config.override(
        **{"crawl.pages": 10}, policy="random", max_per_site="10", seeds=["http://a.org/"]
    )

    assert (changed.crawl.pages, changed.crawl.policy) == (10, "random")
    assert changed.crawl.max_per_site == SiteCap(10)
    assert changed.topic.seeds == ("http://a.org/",)
    assert changed.agent == config.agent
    assert config.crawl.pages == 2000


def test_none_overrides_nothing(config):
    assert config.override(pages=None, seed=None) == config


def test_overrides_obey_the_same_rules(config):
    with pytest.raises(ConfigError, match=r"^crawl\.pages must be a whole number of at least 1"):
        config.override(pages=0)
    with pytest.raises(ConfigError, match=r"^unknown setting pagess; did you mean crawl\.pages\?$"):
        config.override(pagess=5)


def test_plain_keys_are_never_ambiguous():
    names = [key.partition(".")[2] for key in KEYS]

    assert len(names) == len(set(names))


# The resolved file


def test_the_resolved_file_explains_every_setting(config):
    text = config.to_toml()

    assert text.startswith('name = "bio"\n\n[topic]\n# the topic in one or two sentences; ')
    assert 'keywords = ["biology"]\n' in text
    assert "# directory of a saved model to use as it is\n# load is not set\n" in text
    assert 'max_per_site = "inf"\n' in text
    for kind in (TopicSection, TrainingSection, CrawlSection, TreeSection, AgentSection):
        for key in fields(kind):
            assert f"# {key.metadata['doc']}\n" in text


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(str.strip)
configs = st.builds(
    TopicConfig,
    name=texts.map(str.strip),
    topic=st.builds(
        TopicSection,
        keywords=st.lists(texts, min_size=1, max_size=3),
        phrases=st.lists(texts, max_size=3),
        seeds=st.just(["https://example.org/%20?q=1#x"]),
        expand=st.booleans(),
        strike=st.lists(texts, max_size=3),
        contrast=st.floats(0, 1000),
    ),
    training=st.builds(TrainingSection, labels=st.lists(texts, min_size=1, max_size=2)),
    crawl=st.builds(
        CrawlSection,
        pages=st.integers(1, 10**12),
        max_per_site=st.sampled_from([math.inf, 7, "5..2"]),
        seed=st.integers(0, 2**64),
    ),
    agent=st.builds(
        AgentSection,
        gamma=st.floats(0, 1, exclude_max=True),
        learning_rate=st.floats(0, 1, exclude_min=True),
        hidden=st.lists(st.integers(1, 99), min_size=1, max_size=3),
    ),
)


@given(configs)
def test_the_resolved_file_gives_the_same_configuration(tmp_path_factory, config):
    path = tmp_path_factory.getbasetemp() / "resolved.toml"
    path.write_text(config.to_toml(), encoding="utf-8", newline="")

    assert load_topic(path) == config


def test_paths_survive_in_the_resolved_file(topic, tmp_path):
    (tmp_path / "model").mkdir()
    config = topic("[topic]\nkeywords = ['a']\n[training]\nload = 'model'")
    elsewhere = tmp_path / "runs"
    elsewhere.mkdir()

    (elsewhere / "bio.toml").write_text(config.to_toml())

    assert load_topic(elsewhere / "bio.toml") == config


class TestLanguages:
    def test_region_script_and_old_codes_mean_the_language(self):
        given = ["EN-us", "zh_Hant", "nb", "iw", "en"]
        assert LiveSection(languages=given).languages == ("en", "zh", "no", "he", "en")

    @pytest.mark.parametrize(
        ("wrong", "hint"),
        [
            ("german", "did you mean de (German)?"),
            ("ua", "did you mean ug (Uighur), uk (Ukrainian), ur (Urdu), uz (Uzbek)?"),
            ("-", "for example en, de or zh"),
            ("7", "for example en, de or zh"),
        ],
    )
    def test_an_unknown_code_is_refused_with_the_near_ones(self, wrong, hint):
        with pytest.raises(ConfigError, match=re.escape(f"an ISO 639 code, not {wrong!r}; {hint}")):
            LiveSection(languages=[wrong])
