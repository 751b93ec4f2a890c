// Default page sizes of management lists.

/** docs/design/http.md §6. */
export const MANAGEMENT_PAGE = 50
/** For logs (docs/design/http.md §6). */
export const LOG_PAGE = 25
