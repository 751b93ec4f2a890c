// The table of MTA-STS policies of other domains.

import { integer, json, table, text, time } from '../../db/table.ts'
import type { StsPolicy } from '../../tls-policy/sts.ts'

export const TLS_POLICIES = table('tls_policies', {
  domain: text(),
  /** The id of the TXT record with which the policy was fetched; null before. */
  record_id: text().orNull(),
  /** Null when none was ever fetched. */
  policy: json<StsPolicy>().orNull(),
  fetched_at: time().orNull(),
  /** Until when the policy holds, whatever DNS says (RFC 8461 §5.1). */
  expires_at: time().orNull(),
  /** Fetches that failed in a row, when the next may be made, and why the last one failed. */
  failures: integer().or(0),
  retry_at: time().orNull(),
  failure: text().orNull(),
  problem: text().orNull(),
  /** Of the row: the one unused longest makes room. */
  looked_at: time(),
})
