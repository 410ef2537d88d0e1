"""The training room: data, training, export and judgement of the reader. Not part of the wheel."""
