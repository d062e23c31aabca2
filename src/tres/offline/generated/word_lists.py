"""The words of the generated web: eight topics, and words that all pages share.

Words are drawn by Zipf's law, as in real text: a few are everywhere, most are rare. A text is a
mixture of up to three vocabularies.
"""

from __future__ import annotations

from functools import cache

import numpy as np

VOCABULARIES = {
    "astronomy": """
        telescope galaxy star planet nebula orbit comet moon asteroid eclipse supernova
        constellation observatory cosmos meteor spectrum quasar pulsar solar lunar stellar
        redshift parallax magnitude dwarf cluster equinox zenith astronomer photometry lens
        aperture radiation gravity hubble kepler saturn jupiter mars venus mercury neptune
        uranus corona sunspot exoplanet transit satellite infrared cosmology
        """,
    "cooking": """
        recipe flour butter oven sauce garlic onion pepper salt sugar bake roast simmer boil
        knead dough pastry soup stew broth herb basil thyme rosemary tomato cheese cream egg
        yolk whisk skillet pan grill marinade spice cumin cinnamon vanilla chocolate dessert
        bread yeast noodle rice lentil chef kitchen dish taste flavour
        """,
    "sailing": """
        sail boat yacht mast keel rudder hull anchor harbour marina tide wind rope halyard
        jib mainsail spinnaker skipper crew regatta tack gybe knot compass chart buoy sloop
        ketch catamaran dinghy deck bow stern port starboard mooring cruise voyage ocean
        coast lighthouse gale swell rigging winch cleat helm tiller ballast
        """,
    "chess": """
        chess opening endgame pawn knight bishop rook queen king castle checkmate stalemate
        gambit fork pin skewer tactic strategy tournament grandmaster rating clock board
        piece square diagonal file rank sacrifice exchange blunder variation defence
        sicilian fianchetto tempo outpost passed isolated notation puzzle combination
        middlegame zugzwang promotion draw match champion opponent initiative
        """,
    "gardening": """
        garden soil seed compost mulch prune plant flower rose tulip shrub hedge lawn
        greenhouse seedling bulb perennial annual fertiliser weed slug aphid pollinator bee
        bloom blossom root leaf stem vine trellis orchard apple pear plum harvest vegetable
        carrot bean spinach lettuce pumpkin spade rake hoe watering drainage frost climate
        """,
    "cycling": """
        bicycle bike wheel spoke pedal saddle handlebar gear chain derailleur brake tyre
        frame carbon helmet cyclist peloton sprint climb descent cadence crank bottle jersey
        stage race tour criterium velodrome gravel trail commute lane pump puncture tube
        valve sprocket cassette fork suspension pannier rack mudguard lamp mechanic torque
        """,
    "pottery": """
        clay kiln glaze pot vase bowl ceramic porcelain stoneware earthenware potter wheel
        throwing slip coil pinch slab firing bisque raku celadon oxide cobalt iron ash feldspar
        silica kaolin trimming sponge rib loop handle lid spout teapot mug plate tile mould
        engobe sgraffito burnish terracotta studio craft cone temperature shrinkage
        """,
    "railways": """
        train railway locomotive station platform track signal carriage wagon freight
        passenger timetable ticket conductor driver engine steam diesel electric gauge rail
        sleeper ballast junction switch tunnel viaduct bridge depot shunting express branch
        terminus commuter tram metro pantograph catenary coupling boiler whistle guard
        level crossing line route network delay
        """,
}
"""Some words belong to two topics (wheel, fork, ballast, bridge), as in real text."""

COMMON = """
    the of and to in is that for it with as was on be by this are from at or an have not which
    one all can will more when there people time some other new also into only very first after
    many most between over such may then these two made any like even used where well through
    long good year work place day way life world part great small large old same different
    little every own without information about contact page site home news today week month
    often always never sometimes perhaps however because while during since until again still
    back down here under house city country family friend member group company school history
    story question answer example number idea result problem change point case fact hand area
    level form name line end side start turn move keep find give take come see know think want
    need help show tell ask leave write read learn open close early late right left free full
    sure true best next last local public general common special important possible available
    several simple short high low near far visit photo picture list table report article note
    comment review guide service product price order account search archive privacy terms
    """

DIRECTORY = """
    links resources directory index collection catalogue favourites bookmarks sites pointers
    portal recommended
    """

KEYWORDS = 8
"""Words of a vocabulary that are keywords of its topic."""

NO_TOPIC = -1

Words = tuple[str, ...]

TOPICS = tuple(VOCABULARIES)
COMMON_WORDS = tuple(dict.fromkeys(COMMON.split()))
DIRECTORY_WORDS = tuple(DIRECTORY.split())
TOPIC_WORDS = tuple(tuple(dict.fromkeys(words.split())) for words in VOCABULARIES.values())
WORDS_A_SENTENCE = 12


def vocabulary(topic: int) -> Words:
    """Return the words of a topic; without a topic, the common words."""
    return COMMON_WORDS if topic == NO_TOPIC else TOPIC_WORDS[topic]


@cache
def _zipf(size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return cumulative probabilities of the ranks 1 .. size, proportional to 1 / (rank + 3)."""
    sums = np.cumsum(1.0 / (np.arange(size) + 4.0))
    return np.asarray(sums / sums[-1])


def draw_words(words: Words, count: int, rng: np.random.Generator) -> list[str]:
    """Draw `count` words by Zipf's law."""
    ranks = np.searchsorted(_zipf(len(words)), rng.random(count))
    return [words[rank] for rank in np.minimum(ranks, len(words) - 1).tolist()]


def prose(parts: list[tuple[Words, int]], rng: np.random.Generator) -> str:
    """Return sentences of words from several vocabularies, with a count for each."""
    words = [word for vocabulary, count in parts for word in draw_words(vocabulary, count, rng)]
    order = np.argsort(rng.random(len(words))).tolist()
    mixed = [words[place] for place in order]
    starts = range(0, len(mixed), WORDS_A_SENTENCE)
    sentences = (" ".join(mixed[start : start + WORDS_A_SENTENCE]) for start in starts)
    return "\n".join(f"{sentence.capitalize()}." for sentence in sentences)
