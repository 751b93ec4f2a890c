// The first run: whether it is open, and becoming the first owner.

import { startRegistration } from '@simplewebauthn/browser'
import { meApi, take } from './client.ts'
import { createdPasskey, creationOptions } from './passkey-forms.ts'
import type { Self } from './types.ts'

export interface FirstOwner {
  token: string
  email: string
  display_name: string | null
  team_name: string
}

export const readFirstRun = () => take(meApi.GET('/first-run'))

/** @throws ApiError, or a DOMException when the person cancels */
export async function becomeOwnerByPasskey(owner: FirstOwner): Promise<Self> {
  const { token, email } = owner
  const begun = await take(meApi.POST('/first-run/passkey/options', { body: { token, email } }))
  const response = createdPasskey(await startRegistration({ optionsJSON: creationOptions(begun) }))
  return take(meApi.POST('/first-run', { body: { ...owner, flow_id: begun.flow_id, response } }))
}

export const becomeOwnerByPassword = (owner: FirstOwner, password: string) =>
  take(meApi.POST('/first-run', { body: { ...owner, password } }))
