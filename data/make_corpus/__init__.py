"""Makes the sample corpus: the documents of the fictional Lindmoor Instruments."""
