"""The numbers that recall runs on: one set for all languages and kinds of conversation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """Weights and bounds of recall. A weight of 0 switches its step off."""

    deadline_seconds: float = 2.0
    """How long a search waits for the question's vector before it answers without it."""

    # keyword leg: BM25F (Robertson and Zaragoza 2009) over text, speaker and date
    k1: float = 1.0
    """Saturation of term frequency."""
    length_norm: float = 0.65
    """How far long texts are held back, in [0, 1] (BM25's b)."""
    speaker_weight: float = 1.0
    date_weight: float = 0.5
    asked_weight: float = 0.67
    """Of the question that a text answered, once it is gone: a word of it counts for the answer as much as it did while
    the question stood before it (`from_previous_question`)."""
    lexical_weight: float = 1.0
    dense_weight: float = 1.6
    other_language_weight: float = 1.25
    """Of a row in the other language its meaning stands, with this weight, for the words that it cannot share."""
    trust_rows: int = 5
    """Best rows by words, and by meaning, whose meaning is compared."""
    trust_agreement: tuple[float, float] = (0.4, 0.9)
    """Meaning of the former in that of the latter: up to the first bound keywords count least, from the second in
    full."""
    trust_coverage: tuple[float, float] = (0.3, 0.6)
    """The same for the share of the question's wording that one row holds."""
    least_trust: float = 0.3
    """Share of their points that keywords keep at least."""

    # an answer speaks for its question: share of a neighbour's keyword score that a turn inherits
    from_previous_question: float = 0.8
    from_previous: float = 0.2
    from_next_answer: float = 0.1
    """… from the next turn when this turn asks."""
    from_next: float = 0.3
    from_previous_same_speaker: float = 0.0
    from_next_same_speaker: float = 0.0
    diary_previous: float = 0.2
    """Where a log has one speaker only."""
    diary_next: float = 0.1

    # pseudo-relevance feedback (RM3, Abdul-Jaleel et al. 2004): the best rows lend their rare terms to the question
    feedback_rows: int = 5
    feedback_terms: int = 10
    feedback_weight: float = 0.2
    feedback_from: int = 200
    """Rows that an owner must have: in a small log the best rows are all there is to find."""
    feedback_length: int = 15
    """Terms of a row from which on its terms weigh less: a long text names much that is beside the point."""
    feedback_max_share: float = 0.2
    """Terms held by more than this share of the rows carry no topic."""

    speaker_bonus: float = 1.0
    """The question names a speaker, and that speaker said it."""
    quote_bonus: float = 1.5
    """The question quotes a phrase that the row holds."""
    name_bonus: float = 0.5
    """The question names somebody or something that the row names too."""
    graph_bonus: float = 6.0
    """The row tells of somebody whom the question names by another word (the name of "my sister"): for all of the
    question's wording in that other word."""
    instruction_bonus: float = 3.0
    """A standing instruction."""
    preference_bonus: float = 1.5
    """A preference, when the question asks for advice."""
    date_bonus: float = 1.5
    """The question names a time, and it was said about then: from some days before it to some days after it."""
    in_time_bonus: float = 7.0
    """It was said in the very time that the question names: in full where the question names next to nothing else or
    no row holds its wording …"""
    in_time_coverage: float = 0.6
    """… and less the more of its wording one row holds, down to nothing at this share."""
    date_days_before: int = 2
    date_days_after: int = 14
    question_share: float = 0.15
    """Of a question that leans on its conversation, in what the two give together."""
    topic_weight: float = 0.6
    """Of the words, and of the meaning, that a row shares with what the conversation is about."""
    leaning_other_language_weight: float = 0.5
    """`other_language_weight` for such a question: nobody knows well what it means."""
    attribute_bonus: float = 3.0
    """Points of a fact that holds the attribute which the question asks for, at least: see `attributes.lift`."""
    standing_weight: float = 0.2
    """Points between the most and the least important, and between the freshest and the most faded, of two equals."""
    session_prior: float = 0.3
    """A session whose best row fits lifts its other rows …"""
    diary_session_prior: float = 0.1
    """The same where a log has one speaker: its sessions are days rather than topics."""
    session_half: int = 10
    """… in full only when it has many."""
    asking_weight: float = 0.5
    """Share of its fused score that a message keeps which only asks: an earlier question shares the words of this one
    and answers none of it."""
    assistant_weight: float = 0.35
    """Share of its fused score that an assistant's text keeps: it repeats the words of what people say, at length."""

    # of a value that was told twice the later telling comes first
    newer_depth: int = 20
    """Best rows among which the two are looked for."""
    newer_coverage: float = 0.4
    """Share of the question's wording that both must hold."""
    newer_gap: float = 4.0
    """Fused score that the later may stand behind."""

    # what ended a statement comes before the message that made it
    ended_gap: float = 3.0
    """Fused score that the statement may stand behind its message, for the question to be about it."""

    # a precise answer keeps what the score curve sets apart
    precise_answer: float = 0.1
    """Probability of answering, by the reader, below which a row is left out, whatever it shares with the question."""
    precise_answer_in_chinese: float = 0.2
    """The same for a Chinese question: there the reader is surer than it is right."""
    precise_sure: float = 0.7
    """Probability from which a row stays however far behind the best one the reader's log-odds put it."""
    precise_gap: float = 3.5
    """Fused score that a row may stand behind the best one."""
    precise_meaning: float = 0.4
    """Similarity that counts as speaking to the question without sharing a word of it …"""
    precise_evidence: float = 0.25
    """… and where it shares some, similarity and the next share of the question's wording together."""
    precise_coverage_share: float = 0.1
    precise_other_language: float = 0.17
    """Similarity from which a row in another language does: across languages similarities are lower."""
    precise_coverage: float = 0.05
    """Share of the question's wording from which a row counts as sharing some: more than one common character."""

    # statements that say the same are told once, where the best answers hold such repeats
    same_similarity: float = 1.0
    """Calibrated similarity from which two texts with the same numbers say the same …"""
    alike_similarity: float = 0.81
    """… and from which they do in a log that is full of repeats."""
    collapse_depth: int = 150
    """Rows that are looked at."""
    collapse_probe: int = 20
    """Best rows among which repeats must show …"""
    collapse_from: int = 10
    """… at least so many, for the log to count as full of them."""
