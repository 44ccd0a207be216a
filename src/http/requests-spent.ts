/**
 * Whether an error's message says that a run of the Worker has made as many requests as the platform lets it make: that says
 * nothing of whom it would have asked. By its words, as it has no name of its own.
 */
export const isSubrequestLimitError = (message: string): boolean => /too many subrequests/i.test(message)
