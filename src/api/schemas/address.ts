// A person as a mail names one.

import { type Static, Type } from 'typebox'
import type { Address as MailAddress } from '../../mime/message.ts'
import { record } from './record.ts'

export const Address = record('Address', 'An address with its display name, as the mail states it.', {
  email: Type.String({ description: 'Empty when the mail states none.' }),
  name: Type.String({ description: 'Display name, "" when there is none.' }),
})
export type Address = Static<typeof Address>

export function presentAddress(address: MailAddress): Address {
  return { email: address.email, name: address.name }
}
