// The tables of DMARC and TLS reports; the counts in `dmarc_rows` and `tls_rows` are written and read as sums only.

import { bytes, integer, key, table, text, time } from '../db/table.ts'
import type { Disposition } from '../reports/dmarc-aggregate.ts'

export const REPORT_INTAKE = table('report_intake', {
  n: key(),
  /** Hash of the message. */
  content: bytes(),
  size_bytes: integer(),
  /** The domain that DMARC has authenticated. */
  reporter: text(),
  received_at: time(),
})

export const DMARC_REPORTS = table('dmarc_reports', {
  n: key(),
  domain: text(),
  reporter: text(),
  report_id: text(),
  organization: text(),
  policy: text<Disposition>(),
  begin_at: time(),
  end_at: time(),
  received_at: time(),
})

export const TLS_REPORTS = table('tls_reports', {
  n: key(),
  domain: text(),
  reporter: text(),
  report_id: text(),
  organization: text(),
  begin_at: time(),
  end_at: time(),
  received_at: time(),
})
