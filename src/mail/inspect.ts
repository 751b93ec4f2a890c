// One pass over an arriving mail: judged, marked, read, hashed and cut into what is stored. Only the thread that inspects reads this: what judges is large.

import type { Resolver } from '../base/resolver.ts'
import { authenticate } from './authenticate.ts'
import type { Arrival, Inspection } from './mail.ts'
import { taken } from './reading.ts'
import { readReport } from './report/report.ts'
import { addTrace } from './trace.ts'

/** Never throws for what a mail holds: a mail that cannot be read is kept raw and says so. */
export async function inspect(bytes: Uint8Array, arrival: Arrival, resolver: Resolver): Promise<Inspection> {
  const { verdict, resultsHeader } = await authenticate(bytes, arrival, resolver)
  const stored = addTrace(bytes, arrival, resultsHeader)
  const report = arrival.isForReports ? readReport(stored, arrival.mailFrom) : null
  return { verdict, report, ...taken(bytes, stored, arrival) }
}
