// How long the pages of management lists are when the caller names no number.

/** Decisions §1.6. */
export const MANAGEMENT_PAGE = 50
/** Pages of logs (decisions §1.6). */
export const LOG_PAGE = 25
