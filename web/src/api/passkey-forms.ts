// Passkeys as the browser names them, and as the API does: the API describes what it reads of them and lets the rest pass.

import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'
import type { components } from './schema-me.d.ts'

type Schemas = components['schemas']
type Begun = Schemas['PasskeyRequest']
type Used = Schemas['PasskeySignIn']['response']
type Created = Schemas['PasskeyCreate']['response']

/** What the browser is asked for to add a passkey. */
export const creationOptions = ({ options }: Begun) => options as unknown as PublicKeyCredentialCreationOptionsJSON

/** What the browser is asked for to use a passkey. */
export const requestOptions = ({ options }: Begun) => options as unknown as PublicKeyCredentialRequestOptionsJSON

export const createdPasskey = (made: RegistrationResponseJSON) => made as unknown as Created

export const usedPasskey = (used: AuthenticationResponseJSON) => used as unknown as Used
