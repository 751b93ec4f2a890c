// Connecting the mail of a Google or Microsoft account (docs/design/outside-accounts.md §3).

import { Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { begunBy } from '../../directory/names/principal.ts'
import { route } from '../../http/route.ts'
import { Default, Id, Words } from '../../http/schema.ts'
import { CONNECTED_AUTHS, serviceOfAuth } from '../../outbound/model/connected-services.ts'
import { NAME_MAX } from '../../sync/accounts/accounts-input.ts'
import { authorizationJson, presentAuthorization, redirectAfter } from '../schemas/authorization.ts'
import { record } from '../schemas/record.ts'
import { RemoteModeName } from '../schemas/remote-account.ts'

const authorize = route({
  method: 'POST',
  path: '/remote-accounts/oauth/authorize',
  docs: {
    operation: 'authorizeRemoteAccount',
    tag: 'Outside accounts',
    summary: 'Start to connect the mail of a Google or Microsoft account',
    description:
      'A person opens `authorization_url`, signs in to the account and allows reading and sending; the account is then attached, or ' +
      'its connection is renewed. What a person began in a browser is completed in that browser alone; who opens the link of an API ' +
      'key is asked first, and it ends with the key. 503 when the operator has configured no OAuth client.',
  },
  access: { as: 'team', permission: 'remote.create' },
  idempotent: true,
  body: {
    schema: record(
      'RemoteAccountAuthorize',
      'The account to connect.',
      {
        type: Words(CONNECTED_AUTHS, 'Who runs the account.'),
        mode: Default(RemoteModeName, 'mirror'),
        name: Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'A note for the list of accounts.' }),
        mailbox_id: Type.Optional({
          ...Id('mailbox'),
          description: '`collect`: required. A mirror makes its own mailbox.',
        }),
        redirect_after: redirectAfter('mailboxes'),
      },
      { type: 'google', name: 'Ana at Gmail' },
    ),
  },
  reply: {
    secret: true,
    schema: authorizationJson('RemoteAccountAuthorization'),
    status: 201,
  },
  async handle({ body, principal, app }) {
    const { mode, mailbox_id: mailboxId = null } = body
    if (
      mode === 'collect' &&
      (mailboxId === null || app.directory.mailboxes.get(principal.teamId, mailboxId) === undefined)
    ) {
      throw invalid(
        'mailbox_id',
        mailboxId === null ? 'required' : 'not_found',
        'Give a mailbox of the team to collect into.',
      )
    }
    if (mode === 'mirror' && mailboxId !== null) {
      throw invalid('mailbox_id', 'forbidden_value', 'A mirror makes its own mailbox. Leave this member out.')
    }
    const input = {
      type: serviceOfAuth(body.type).type,
      name: body.name,
      redirectAfter: body.redirect_after ?? null,
      mail: { mode, mailboxId },
    }
    return presentAuthorization(
      await app.outbound.accounts.oauth.authorize(principal.teamId, input, begunBy(principal)),
    )
  },
})

export const remoteAccountOauth = [authorize]
