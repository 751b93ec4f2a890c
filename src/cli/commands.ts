// All commands, in the order and under the headings of the help.

import {
  agentLimit,
  agentList,
  agentRegistration,
  agentRevoke,
  agentRevokeAll,
  agentRotateKey,
} from './commands/agents.ts'
import {
  appPasswordCreate,
  appPasswordList,
  appPasswordRevoke,
  mailboxSettings,
  mailboxSignIns,
} from './commands/app-passwords.ts'
import { auditList } from './commands/audit.ts'
import { backup } from './commands/backup.ts'
import { backups } from './commands/backups.ts'
import { certificateList, certificateRenew } from './commands/certificates.ts'
import { clockAccept } from './commands/clock-accept.ts'
import { groupCreate, groupDelete, groupList, groupShow, groupUpdate } from './commands/delivery-groups.ts'
import { doctor } from './commands/doctor.ts'
import { domainAdd } from './commands/domain-add.ts'
import { domainAddresses, domainSetAddresses } from './commands/domain-addresses.ts'
import { domainMtaSts } from './commands/domain-mta-sts.ts'
import { domainOwn } from './commands/domain-own.ts'
import { domainPublish } from './commands/domain-publish.ts'
import { domainReports } from './commands/domain-reports.ts'
import { domainRotateKey } from './commands/domain-rotate-key.ts'
import { domainVerify } from './commands/domain-verify.ts'
import { domainList, domainShow } from './commands/domains.ts'
import { emailShow } from './commands/email-show.ts'
import { eventTail, webhookListen } from './commands/event-tail.ts'
import { filterSet, filterShow } from './commands/filters.ts'
import { forwardAdd, forwardList, forwardRemove } from './commands/forwards.ts'
import { keyCreate } from './commands/key-create.ts'
import { keyList, keyRevoke, keyRotate } from './commands/keys.ts'
import { limitRequestApprove, limitRequestDeny, limitRequestList } from './commands/limit-requests.ts'
import { logTail } from './commands/log-tail.ts'
import { mailboxAlias, mailboxAliases, mailboxRemoveAlias } from './commands/mailbox-alias.ts'
import { mailboxCreate } from './commands/mailbox-create.ts'
import { mailboxKey } from './commands/mailbox-key.ts'
import { mailboxEndThrowAway, mailboxThrowAway, mailboxThrowAways } from './commands/mailbox-throw-away.ts'
import {
  mailboxDelete,
  mailboxErase,
  mailboxList,
  mailboxReactivate,
  mailboxRestore,
  mailboxSuspend,
} from './commands/mailboxes.ts'
import { mcp } from './commands/mcp.ts'
import { memberRemove, memberRole } from './commands/member-change.ts'
import { operatorGrant, operatorList, operatorWithdraw } from './commands/operator-grant.ts'
import { operatorKey, operatorRevoke } from './commands/operator-key.ts'
import { loginLink, memberAdd, memberList, signOut } from './commands/people.ts'
import { providerActivate, providerDeactivate, providerDelete, providerTest } from './commands/provider-actions.ts'
import { providerConnect, providerCreate, providerUpdate } from './commands/provider-edit.ts'
import { providerList, providerShow } from './commands/providers.ts'
import { queueDrop, queueList, queueRetry } from './commands/queue.ts'
import { quickstart } from './commands/quickstart.ts'
import { remoteAdd, remoteDiscover } from './commands/remote-add.ts'
import {
  remoteConfirmRemoval,
  remoteDelete,
  remoteList,
  remotePause,
  remoteResume,
  remoteShow,
  remoteSync,
  remoteUndoRemoval,
} from './commands/remotes.ts'
import { remoteRemoved, remoteRestore } from './commands/removed-messages.ts'
import { restore } from './commands/restore.ts'
import { routeList, routeRemove, routeSet } from './commands/routes.ts'
import { send } from './commands/send.ts'
import { serveCommand } from './commands/serve.ts'
import { serverName } from './commands/server-name.ts'
import { setup } from './commands/setup.ts'
import {
  sieveActivate,
  sieveCheck,
  sieveDeactivate,
  sieveDelete,
  sieveList,
  sievePut,
  sieveShow,
} from './commands/sieve.ts'
import { spamExplain, spamExport, spamReset, spamRetrain, spamState } from './commands/spam.ts'
import { suppressionAdd, suppressionList, suppressionRemove } from './commands/suppressions.ts'
import { teamCreate } from './commands/team-create.ts'
import { teamCredit } from './commands/team-credit.ts'
import { teamList, teamReactivate, teamSuspend, teamUpdate } from './commands/teams.ts'
import {
  webhookDeliveries,
  webhookReplay,
  webhookReplayFailed,
  webhookRotateSecret,
  webhookTest,
} from './commands/webhook-actions.ts'
import { webhookCreate, webhookDelete, webhookList, webhookShow, webhookUpdate } from './commands/webhooks.ts'
import { completionOf } from './completion/completion.ts'
import type { Command } from './frame/command.ts'

export interface CommandGroup {
  title: string
  commands: readonly Command[]
}

export const GROUPS: readonly CommandGroup[] = [
  {
    title: 'The appliance',
    commands: [
      quickstart,
      setup,
      serveCommand,
      serverName,
      certificateList,
      certificateRenew,
      doctor,
      backup,
      backups,
      restore,
      clockAccept,
      completionOf(() => COMMANDS),
    ],
  },
  {
    title: 'Teams and keys',
    commands: [
      ...[teamList, teamCreate, teamUpdate, teamSuspend, teamReactivate, teamCredit],
      ...[limitRequestList, limitRequestApprove, limitRequestDeny],
      ...[keyList, keyCreate, keyRevoke, keyRotate, operatorKey, operatorRevoke],
      ...[operatorList, operatorGrant, operatorWithdraw],
      ...[memberList, memberAdd, memberRole, memberRemove, loginLink, signOut],
    ],
  },
  {
    title: 'Domains and mailboxes',
    commands: [
      ...[domainList, domainShow, domainAdd, domainVerify, domainOwn, domainRotateKey, domainMtaSts, domainReports],
      ...[domainPublish, domainAddresses, domainSetAddresses],
      ...[mailboxList, mailboxCreate, mailboxKey, mailboxAlias, mailboxAliases, mailboxRemoveAlias],
      ...[mailboxThrowAway, mailboxThrowAways, mailboxEndThrowAway],
      ...[appPasswordList, appPasswordCreate, appPasswordRevoke, mailboxSettings, mailboxSignIns],
      ...[forwardList, forwardAdd, forwardRemove],
      ...[filterShow, filterSet],
      ...[sieveList, sieveShow, sieveCheck, sievePut, sieveActivate, sieveDeactivate, sieveDelete],
      ...[mailboxSuspend, mailboxReactivate, mailboxDelete, mailboxRestore, mailboxErase],
      ...[spamState, spamRetrain, spamExport, spamReset, spamExplain],
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
      ...[groupList, groupShow, groupCreate, groupUpdate, groupDelete],
      ...[routeList, routeSet, routeRemove],
      ...[suppressionList, suppressionAdd, suppressionRemove],
    ],
  },
  {
    title: 'Logs and webhooks',
    commands: [
      ...[logTail, emailShow, eventTail, auditList],
      ...[webhookList, webhookShow, webhookCreate, webhookUpdate, webhookDelete, webhookTest],
      ...[webhookRotateSecret, webhookDeliveries, webhookReplay, webhookReplayFailed, webhookListen],
    ],
  },
  {
    title: 'Agents',
    commands: [agentList, agentLimit, agentRevoke, agentRevokeAll, agentRegistration, agentRotateKey, mcp],
  },
]

export const COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands)
