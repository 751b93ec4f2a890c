// Schemas of passkeys: what the server sends to a browser, and what the browser answers (WebAuthn Level 3, §5.1.8 to §5.1.10).

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { type TObject, type TUnsafe, Type } from 'typebox'
import { record } from '../http/record.ts'

const BASE64URL_MAX = 65_536

export const FlowId = Type.String({ minLength: 1, maxLength: 64, description: 'Of the options that were answered.' })

/** As the browser takes it: `navigator.credentials` after `parseRequestOptionsFromJSON` or `parseCreationOptionsFromJSON`. */
const BrowserOptions = Type.Object(
  {},
  { additionalProperties: true, description: 'For the browser (JSON form of WebAuthn).' },
)

export const PasskeyRequest = record('PasskeyRequest', 'What the browser is asked for.', {
  flow_id: Type.String({ description: 'Named with the answer; works once, for five minutes.' }),
  options: BrowserOptions,
})

function credential(response: TObject): TObject {
  return Type.Object(
    {
      id: Type.String({ minLength: 1, maxLength: 2048 }),
      rawId: Type.String({ minLength: 1, maxLength: 2048 }),
      type: Type.Literal('public-key'),
      response,
    },
    { additionalProperties: true, description: '`PublicKeyCredential.toJSON()` of the browser.' },
  )
}

const base64url = () => Type.String({ maxLength: BASE64URL_MAX })

/** The answer to a request for a passkey. */
export const PasskeyUse = credential(
  Type.Object(
    { authenticatorData: base64url(), clientDataJSON: base64url(), signature: base64url() },
    { additionalProperties: true },
  ),
) as unknown as TUnsafe<AuthenticationResponseJSON>

/** A new passkey. */
export const PasskeyCreation = credential(
  Type.Object({ attestationObject: base64url(), clientDataJSON: base64url() }, { additionalProperties: true }),
) as unknown as TUnsafe<RegistrationResponseJSON>
