"""What is kept of texts to be quicker the next time."""

from __future__ import annotations

from collections import Counter

from ebbing.language.text.caches import MAX_CACHED_TEXT_CHARS, bounded_text_cache, clear_text_caches

READ: Counter[str] = Counter()


@bounded_text_cache(2)
def length(text: str, *, extra: int = 0) -> int:
    """Counts how often it had to work."""
    READ[text] += 1
    return len(text) + extra


def test_a_short_text_is_worked_out_once_until_it_is_let_go() -> None:
    READ.clear()
    assert [length("tea"), length("tea")] == [3, 3]
    assert READ["tea"] == 1
    clear_text_caches()
    assert length("tea") == 3
    assert READ["tea"] == 2


def test_a_long_text_is_not_kept_in_memory() -> None:
    READ.clear()
    longest, longer = "a" * MAX_CACHED_TEXT_CHARS, "a" * (MAX_CACHED_TEXT_CHARS + 1)
    for _ in range(2):
        assert (length(longest), length(longer)) == (MAX_CACHED_TEXT_CHARS, MAX_CACHED_TEXT_CHARS + 1)
    assert (READ[longest], READ[longer]) == (1, 2)


def test_other_arguments_are_part_of_the_question() -> None:
    assert (length("tea"), length("tea", extra=2)) == (3, 5)
