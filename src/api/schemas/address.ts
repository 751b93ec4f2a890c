// An email address with its display name.

import { type Static, Type } from 'typebox'
import type { Address as MailAddress } from '../../mime/message.ts'
import { record } from './record.ts'

export const AddressJson = record('Address', 'An address with its display name, as in the header of the message.', {
  email: Type.String({ description: 'Empty when the header has none.' }),
  name: Type.String({ description: 'Display name, "" when there is none.' }),
})
export type AddressJson = Static<typeof AddressJson>

export function presentAddress(address: MailAddress): AddressJson {
  return { email: address.email, name: address.name }
}
