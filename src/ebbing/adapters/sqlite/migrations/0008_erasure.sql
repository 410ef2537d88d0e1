-- What was removed from the tables and may still lie in unused parts of the file or in its log (`scrubbing.py`).
CREATE TABLE unscrubbed (
  no INTEGER PRIMARY KEY,
  level INTEGER NOT NULL
);

-- Where the history lies when it lies in a file of its own, so that whoever opens this one finds it, and erases there too.
CREATE TABLE place_of_history (
  path TEXT NOT NULL                               -- relative to the directory of this file where it is inside
);
