"""Training, selection and assessment: runs, protocols, jobs and their results on disk."""
