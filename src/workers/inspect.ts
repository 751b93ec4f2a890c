// Inspects an arriving message in one pass: authenticates, adds trace fields, parses, hashes and splits it into chunks. Only loaded in the worker thread: mailauth is large.

import { authenticate } from '../auth/authenticate.ts'
import type { Resolver } from '../base/resolver.ts'
import { addTrace } from '../mime/trace.ts'
import { readReport } from '../reports/report.ts'
import type { Inspection, InspectionRequest } from './inspection.ts'
import { inspectionContent } from './read-message.ts'

/** Never throws for malformed content: an unparsable message is stored raw and marked as such. */
export async function inspect(bytes: Uint8Array, arrival: InspectionRequest, resolver: Resolver): Promise<Inspection> {
  const { verdict, resultsHeader } = await authenticate(bytes, arrival, resolver)
  const stored = addTrace(bytes, arrival, resultsHeader)
  const report = arrival.isForReports ? readReport(stored, arrival.mailFrom) : null
  return { verdict, report, ...inspectionContent(bytes, stored, arrival) }
}
