-- Book-keeping about recall stands beside the record, so that counting never makes a search read anything anew.
CREATE TABLE returned (
  mid INTEGER PRIMARY KEY,
  times INTEGER NOT NULL,
  last_at INTEGER NOT NULL
);

CREATE TABLE feedback (
  mid INTEGER NOT NULL,
  recall TEXT NOT NULL,                            -- the answer that held the memory: a repeated signal counts once
  signal TEXT NOT NULL,
  at INTEGER NOT NULL,
  reason TEXT,
  PRIMARY KEY (mid, recall, signal)
) WITHOUT ROWID;
