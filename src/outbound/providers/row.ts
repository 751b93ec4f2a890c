// Maps a database row to a sending account.

import type { Row } from '../../db/db.ts'
import type { Provider, ProviderQuotas, ProviderStatus, ProviderType, SmtpProtocol } from '../model/records.ts'

export function presentProvider(row: Row): Provider {
  return {
    n: row.n as number,
    id: row.id as string,
    teamId: row.team_id as string,
    name: row.name as string,
    type: row.type as ProviderType,
    status: row.status as ProviderStatus,
    statusReason: row.status_reason as string | null,
    isShared: row.is_shared === 1,
    smtpHost: row.smtp_host as string | null,
    smtpPort: row.smtp_port as number | null,
    smtpProtocol: row.smtp_protocol as SmtpProtocol | null,
    smtpUsername: row.smtp_username as string | null,
    hasSmtpPassword: row.smtp_password_sealed !== null,
    fromEmail: row.from_email as string | null,
    fromName: row.from_name as string | null,
    replyToEmail: row.reply_to_email as string | null,
    replyToName: row.reply_to_name as string | null,
    returnPath: row.return_path as string | null,
    takesVerp: row.takes_verp === 1,
    oauthEmail: row.oauth_email as string | null,
    hasRefreshToken: row.refresh_token_sealed !== null,
    quotas: JSON.parse(row.quotas as string) as ProviderQuotas,
    percentage: row.percentage as number | null,
    trackingDomain: row.tracking_domain as string | null,
    remoteAccountId: row.remote_account_id as string | null,
    connectionVersion: row.connection_version as number,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    lastTestedAt: row.last_tested_at as number | null,
    lastUsedAt: row.last_used_at as number | null,
  }
}
