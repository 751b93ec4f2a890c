// What requests that wait have in common: their credential may end before their answer.

import { ProductError } from '../../base/errors.ts'
import type { RequestFacts } from '../../http/route.ts'

/** A credential that was revoked while its request waited gets nothing. @throws ProductError authentication_required */
export async function requireLiveCredential(request: RequestFacts): Promise<void> {
  if ((await request.credentialStatus()) === 'out')
    throw new ProductError('authentication_required', 'The credential has ended while the request waited.')
}
