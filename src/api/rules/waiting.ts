// A rule of requests that wait: their credential is checked again before the answer, because it may have been revoked.

import { ProductError } from '../../base/errors.ts'
import type { RequestFacts } from '../../http/route.ts'

/** A credential that was revoked while its request waited gets nothing. @throws ProductError authentication_required */
export async function requireLiveCredential(request: RequestFacts): Promise<void> {
  if ((await request.credentialStatus()) === 'out')
    throw new ProductError('authentication_required', 'The credential has ended while the request waited.')
}
