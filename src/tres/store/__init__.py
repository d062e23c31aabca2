"""What a run keeps on disk: journal, snapshots, WARC files, orders, results."""
