"""Records with their index entries, history and earlier states: everything that belongs to one owner."""
