// All commands, in the order and under the headings of the help.

import { agentLimit, agentList, agentRegistration, agentRevoke, agentRevokeAll, agentRotateKey } from './agents.ts'
import {
  appPasswordCreate,
  appPasswordList,
  appPasswordRevoke,
  mailboxSettings,
  mailboxSignIns,
} from './app-passwords.ts'
import { auditList } from './audit.ts'
import { backup } from './backup.ts'
import { clockAccept } from './clock-accept.ts'
import type { Command } from './command.ts'
import { completionOf } from './completion.ts'
import { doctor } from './doctor.ts'
import { domainAdd } from './domain-add.ts'
import { domainOwn } from './domain-own.ts'
import { domainRotateKey } from './domain-rotate-key.ts'
import { domainVerify } from './domain-verify.ts'
import { domainList, domainShow } from './domains.ts'
import { forwardAdd, forwardList, forwardRemove } from './forwards.ts'
import { keyCreate } from './key-create.ts'
import { keyList, keyRevoke, keyRotate } from './keys.ts'
import { limitRequestApprove, limitRequestDeny, limitRequestList } from './limit-requests.ts'
import { logTail } from './log-tail.ts'
import { mailboxAlias, mailboxAliases, mailboxRemoveAlias } from './mailbox-alias.ts'
import { mailboxCreate } from './mailbox-create.ts'
import { mailboxKey } from './mailbox-key.ts'
import {
  mailboxDelete,
  mailboxErase,
  mailboxList,
  mailboxReactivate,
  mailboxRestore,
  mailboxSuspend,
} from './mailboxes.ts'
import { operatorGrant, operatorList, operatorWithdraw } from './operator-grant.ts'
import { operatorKey, operatorRevoke } from './operator-key.ts'
import { loginLink, memberAdd, memberList, signOut } from './people.ts'
import { providerActivate, providerDeactivate, providerDelete, providerTest } from './provider-actions.ts'
import { providerConnect, providerCreate, providerUpdate } from './provider-edit.ts'
import { providerList, providerShow } from './providers.ts'
import { queueDrop, queueList, queueRetry } from './queue.ts'
import { remoteAdd, remoteDiscover } from './remote-add.ts'
import {
  remoteConfirmRemoval,
  remoteDelete,
  remoteList,
  remotePause,
  remoteResume,
  remoteShow,
  remoteSync,
  remoteUndoRemoval,
} from './remotes.ts'
import { remoteRemoved, remoteRestore } from './removed-messages.ts'
import { restore } from './restore.ts'
import { send } from './send.ts'
import { serveCommand } from './serve.ts'
import { setup } from './setup.ts'
import { suppressionAdd, suppressionList, suppressionRemove } from './suppressions.ts'
import { teamCreate } from './team-create.ts'
import { teamCredit } from './team-credit.ts'
import { teamList, teamReactivate, teamSuspend, teamUpdate } from './teams.ts'
import { webhookDeliveries, webhookReplay, webhookRotateSecret, webhookTest } from './webhook-actions.ts'
import { webhookCreate, webhookDelete, webhookList, webhookShow, webhookUpdate } from './webhooks.ts'

export interface CommandGroup {
  title: string
  commands: readonly Command[]
}

export const GROUPS: readonly CommandGroup[] = [
  {
    title: 'The appliance',
    commands: [setup, serveCommand, doctor, backup, restore, clockAccept, completionOf(() => COMMANDS)],
  },
  {
    title: 'Teams and keys',
    commands: [
      ...[teamList, teamCreate, teamUpdate, teamSuspend, teamReactivate, teamCredit],
      ...[limitRequestList, limitRequestApprove, limitRequestDeny],
      ...[keyList, keyCreate, keyRevoke, keyRotate, operatorKey, operatorRevoke],
      ...[operatorList, operatorGrant, operatorWithdraw],
      ...[memberList, memberAdd, loginLink, signOut],
    ],
  },
  {
    title: 'Domains and mailboxes',
    commands: [
      ...[domainList, domainShow, domainAdd, domainVerify, domainOwn, domainRotateKey],
      ...[mailboxList, mailboxCreate, mailboxKey, mailboxAlias, mailboxAliases, mailboxRemoveAlias],
      ...[appPasswordList, appPasswordCreate, appPasswordRevoke, mailboxSettings, mailboxSignIns],
      ...[forwardList, forwardAdd, forwardRemove],
      ...[mailboxSuspend, mailboxReactivate, mailboxDelete, mailboxRestore, mailboxErase],
    ],
  },
  {
    title: 'Outside accounts',
    commands: [
      ...[remoteList, remoteShow, remoteAdd, remoteDiscover, remoteSync],
      ...[
        remotePause,
        remoteResume,
        remoteConfirmRemoval,
        remoteUndoRemoval,
        remoteRemoved,
        remoteRestore,
        remoteDelete,
      ],
    ],
  },
  {
    title: 'Sending',
    commands: [
      ...[send, queueList, queueRetry, queueDrop],
      ...[providerList, providerShow, providerCreate, providerConnect, providerUpdate, providerTest],
      ...[providerActivate, providerDeactivate, providerDelete],
      ...[suppressionList, suppressionAdd, suppressionRemove],
    ],
  },
  {
    title: 'Logs and webhooks',
    commands: [
      ...[logTail, auditList],
      ...[webhookList, webhookShow, webhookCreate, webhookUpdate, webhookDelete, webhookTest],
      ...[webhookRotateSecret, webhookDeliveries, webhookReplay],
    ],
  },
  {
    title: 'Agents',
    commands: [agentList, agentLimit, agentRevoke, agentRevokeAll, agentRegistration, agentRotateKey],
  },
]

export const COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands)
