// Inspects an arriving message in one pass: authenticates, adds trace fields, parses, hashes and splits it into chunks. Only loaded in the worker thread: mailauth is large.

import { authenticate } from '../auth/authenticate.ts'
import { freeBytes } from '../base/free-bytes.ts'
import type { Resolver } from '../base/resolver.ts'
import { sha256 } from '../base/secrets.ts'
import { bytesOf } from '../mime/chunks.ts'
import { addTrace } from '../mime/trace.ts'
import { readReport } from '../reports/report.ts'
import type { Inspection, InspectionRequest } from './inspection.ts'
import { inspectionContent } from './read-message.ts'

/**
 * Never throws for malformed content: an unparsable message is stored raw and marked as such.
 * @param bytes of a large message, which are freed: nothing else may use them
 */
export async function inspect(bytes: Uint8Array, arrival: InspectionRequest, resolver: Resolver): Promise<Inspection> {
  const { verdict, resultsHeader } = await authenticate(bytes, arrival, resolver)
  const stored = addTrace(bytes, arrival, resultsHeader)
  const arrivedHash = sha256(bytes)
  freeBytes([bytes])
  const report = arrival.isForReports ? readReport(stored, arrival.mailFrom) : null
  const content = inspectionContent(arrivedHash, stored, arrival)
  freeBytes([stored], bytesOf(content))
  return { verdict, report, ...content }
}
