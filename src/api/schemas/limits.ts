// The limits of the Mailbox API, as in the session document (docs/design/mailbox.md §2).

import { PAGE_MAX } from '../../http/schema.ts'

/** Counts are numbers of objects, `chars` are Unicode code points, `bytes` are bytes. */
export const MAILBOX_LIMITS = {
  list_limit_max: PAGE_MAX,
  changes_limit_max: 500,
  batch_ids_max: 100,
  message_body_chars_default: 20_000,
  thread_body_chars_default: 4_000,
  body_chars_max: 500_000,
  inline_attachment_bytes_max: 10_485_760,
  attachment_upload_bytes_max: 26_214_400,
  outbound_raw_message_bytes_max: 41_943_040,
  keywords_per_update_max: 50,
} as const

/** Default size of a page (docs/design/http.md §6). */
export const MAILBOX_PAGE = 25
