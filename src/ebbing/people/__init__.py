"""Who somebody is: their profile, made from their memories, and the identities under which they come."""
