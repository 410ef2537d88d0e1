"""Rule packs, compiled patterns and the keep classifier."""
