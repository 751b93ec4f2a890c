// One pass over an arriving mail: judged, marked, read, hashed and cut into what is stored. Only the thread that inspects reads this: what judges is large.

import { authenticate } from '../auth/authenticate.ts'
import type { Resolver } from '../base/resolver.ts'

import { addTrace } from '../mime/trace.ts'
import { readReport } from '../reports/report.ts'
import type { Inspection, InspectionRequest } from './inspection.ts'
import { taken } from './read-message.ts'

/** Never throws for what a mail holds: a mail that cannot be read is kept raw and says so. */
export async function inspect(bytes: Uint8Array, arrival: InspectionRequest, resolver: Resolver): Promise<Inspection> {
  const { verdict, resultsHeader } = await authenticate(bytes, arrival, resolver)
  const stored = addTrace(bytes, arrival, resultsHeader)
  const report = arrival.isForReports ? readReport(stored, arrival.mailFrom) : null
  return { verdict, report, ...taken(bytes, stored, arrival) }
}
