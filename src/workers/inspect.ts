// Inspects an arriving message in one pass: authenticates, adds trace fields, parses, hashes and splits it into chunks. Only loaded in the worker thread: mailauth is large.

import { authenticate } from '../auth/authenticate.ts'
import { freeBytes } from '../base/free-bytes.ts'
import type { Resolver } from '../base/resolver.ts'
import { sha256 } from '../base/secrets.ts'
import { bytesOf } from '../mime/chunks.ts'
import { readHeaders } from '../mime/headers.ts'
import { addTrace } from '../mime/trace.ts'
import { readReport } from '../reports/report.ts'
import { readMaterial } from '../spam/material.ts'
import { examineContent } from '../spam/score.ts'
import { startModel } from '../spam/start-model.ts'
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
  const inspected = inspectionContent(arrivedHash, stored, arrival)
  const { message, traits } = inspected
  const options = { isList: traits.isList, fields: readHeaders(stored).fields, key: arrival.spamKey }
  const content = report === null ? examineContent(readMaterial(stored, message), options, startModel()) : null
  freeBytes([stored], bytesOf(inspected))
  return { verdict, report, content, ...inspected }
}
