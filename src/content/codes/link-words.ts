// Words of sign-in and confirmation links in ten languages, and words of links that are none.

export const LINK_KINDS = ['sign_in', 'confirm', 'reset', 'invite'] as const
export type LinkKind = (typeof LINK_KINDS)[number]

function anyOf(...words: string[]): RegExp {
  return new RegExp(words.join('|'), 'iu')
}

/** Words that name the act of a link. */
export const ACTS: Readonly<Record<LinkKind, RegExp>> = {
  reset: anyOf(
    '(?:reset|choose|set|create|change)(?: (?:a|your|my))?(?: new)? password|password reset|recover (?:your )?account',
    'passwort (?:zurücksetzen|ändern|neu)|(?:neues|neuen) (?:passwort|kennwort)|kennwort zurücksetzen',
    '(?:réinitialis\\p{L}+|nouveau|changer) (?:de |le |votre |mon |ton )?mot de passe',
    '(?:restablec\\p{L}+|cambi\\p{L}+|nueva|crear) (?:la |tu |su |mi |una )?(?:nueva )?contraseña',
    '(?:redefinir|recuperar|repor|nova|alterar) (?:a |sua |a sua |minha )?(?:senha|palavra-passe)',
    '(?:reimposta\\p{L}*|nuova|cambia|reimpostare) (?:la )?(?:tua )?password',
    '(?:wachtwoord (?:opnieuw|resetten|herstellen|wijzigen)|nieuw wachtwoord)',
    '(?:zresetuj|resetuj|ustaw|zmień|resetowanie) (?:nowe )?has\\p{L}+',
    '(?:сброс\\p{L}+|восстанов\\p{L}+|новый|сменить|изменить) (?:свой )?парол\\p{L}*',
    'パスワード(?:を|の)?(?:再設定|リセット|変更)',
  ),
  sign_in: anyOf(
    '(?:sign|log)[- ]?in(?:to)?(?! to (?:view|see|read|manage))|magic link|one-click login',
    'anmelde-?link|(?:jetzt )?(?:anmelden|einloggen)|login-?link',
    '(?:se |me |vous )?connecter|lien (?:de connexion|magique)',
    'iniciar sesión|enlace (?:de acceso|mágico|de inicio)|acceder',
    'iniciar sessão|fazer login|link (?:de acesso|mágico)|entrar',
    '(?:accedi|link (?:di accesso|magico))',
    'inloggen|inloglink|log nu in|aanmelden',
    'zaloguj|link (?:do logowania|logowania)',
    '(?:войти|ссылк\\p{L} для входа|вход в)',
    '(?:ログイン|サインイン)',
  ),
  confirm: anyOf(
    '(?:confirm|verify|validate|activate)(?: (?:your|my|this|the|new))*(?: (?:e-?mail|account|address|registration|subscription|sign-?up|identity|profile))|(?:e-?mail|account) (?:verification|confirmation|activation)|complete (?:your )?(?:registration|sign-?up)',
    '(?:e-?mail(?:-adresse)?|konto|account|adresse|registrierung|anmeldung|newsletter-anmeldung)(?: jetzt)? (?:bestätigen|verifizieren|aktivieren|abschließen)|(?:bestätigen|aktivieren|bestätige|aktiviere) (?:sie |du )?(?:bitte |jetzt )?(?:ihre?|dein\\p{L}*|die) [\\p{L}-]*(?:adresse|konto|registrierung|anmeldung|mail)',
    "(?:confirm|vérifi|activ|valid)\\p{L}+ (?:mon |votre |ton |l['’]|cette )?(?:adresse|e-?mail|compte|inscription|identité|courriel)",
    '(?:confirm|verific|activ)\\p{L}+ (?:mi |tu |su |la |el |esta )?(?:correo|cuenta|dirección|registro|suscripción|e-?mail)',
    '(?:confirm|verific|ativ)\\p{L}+ (?:o |a |meu |minha |seu |sua |teu |tua |o seu |a sua )?(?:e-?mail|conta|endereço|cadastro|registo|inscrição)',
    "(?:conferm|verific|attiv)\\p{L}+ (?:il |la |l['’]|il tuo |la tua |il mio |la mia )?(?:e-?mail|account|indirizzo|registrazione|iscrizione)",
    '(?:e-?mail(?:adres)?|account|adres|registratie|inschrijving)(?: nu)? (?:bevestigen|verifiëren|activeren)|(?:bevestig|verifieer|activeer) (?:je|uw|mijn) (?:e-?mail\\p{L}*|account|adres|registratie|inschrijving)',
    '(?:potwierdź|zweryfikuj|aktywuj|potwierdzić|aktywować) (?:swój |swoje |adres |ten )?(?:adres|e-?mail|konto|rejestracj\\p{L}+|subskrypcj\\p{L}+)',
    '(?:подтверд\\p{L}+|активир\\p{L}+) (?:свой |свою |ваш |адрес |мой |ваш )?(?:адрес|e-?mail|почт\\p{L}+|электронн\\p{L}+|аккаунт|учетн\\p{L}+|учётн\\p{L}+|регистраци\\p{L}+|подписк\\p{L}+)',
    '(?:メールアドレス|アカウント|登録)(?:を|の)?(?:確認|認証|有効化|有効に|完了)',
  ),
  invite: anyOf(
    '(?:accept|view)(?: (?:the|your|this))? invit\\p{L}+|join (?:the |your |our )?(?:team|workspace|organi[sz]ation|project|family|group|space)',
    'einladung annehmen|(?:team|arbeitsbereich|projekt) beitreten',
    "accepter l['’]invitation|rejoindre (?:l['’]équipe|l['’]espace|l['’]organisation|le projet)",
    'aceptar (?:la )?invitación|unirse al (?:equipo|espacio|proyecto)|únete al equipo',
    'aceitar (?:o )?convite|(?:entrar na|juntar-se à) (?:equipe|equipa)',
    "accetta(?:re)? (?:l['’])?invito|unisciti al (?:team|progetto)",
    'uitnodiging (?:accepteren|aannemen)|accepteer (?:de |je )?uitnodiging|word lid van het team',
    '(?:przyjmij|zaakceptuj|akceptuj) zaproszenie|dołącz do (?:zespołu|projektu)',
    '(?:принять|примите) приглашение|присоединит\\p{L}+ к (?:команде|проекту)',
    '招待を(?:承認|受け|承諾)|(?:チーム|ワークスペース)に参加',
  ),
}

/** Links that only look like one: to leave a list, to read, to buy, to come. */
export const OTHER_LINKS = anyOf(
  'unsubscribe|opt[- ]?out|preferences|view (?:in|this|your|the|online)|browser|privacy|terms|help|support|contact|track|invoice|receipt|order|parcel|shop|buy|cart|checkout|download|webinar|meeting|call|attendance|booking|appointment|reservation|rsvp|event|delivery|survey|feedback|review|report|statement|calendar|blog|read more|learn more',
  'abmelden|abbestellen|austragen|einstellungen|ansehen|datenschutz|impressum|hilfe|rechnung|bestellung|sendung|termin|besprechung|buchung|bewerten|umfrage|teilnahme|lieferung',
  'désabonner|désinscri\\p{L}+|préférences|navigateur|confidentialité|aide|facture|commande|colis|rendez-vous|réunion|réservation|sondage|avis|livraison',
  'darse de baja|cancelar (?:la )?suscripción|preferencias|navegador|privacidad|ayuda|factura|pedido|cita|reunión|reserva|encuesta|entrega|asistencia',
  'cancelar (?:a )?(?:inscrição|subscrição|assinatura)|descadastr\\p{L}+|preferências|privacidade|ajuda|fatura|encomenda|consulta|reunião|pesquisa|presença',
  "disiscriv\\p{L}+|annulla(?:re)? l['’]iscrizione|preferenze|fattura|ordine|appuntamento|riunione|prenotazione|sondaggio|consegna|presenza",
  'uitschrijven|afmelden|voorkeuren|privacy|hulp|factuur|bestelling|afspraak|vergadering|boeking|enquête|bezorging|aanwezigheid',
  'wypis\\p{L}*|rezygn\\p{L}+|preferencj\\p{L}+|prywatnoś\\p{L}+|pomoc|faktur\\p{L}+|zamówieni\\p{L}+|wizyt\\p{L}+|spotkani\\p{L}+|rezerwacj\\p{L}+|ankiet\\p{L}+|dostaw\\p{L}+|obecnoś\\p{L}+',
  'отписа\\p{L}+|отказаться|настройк\\p{L}+|конфиденциальност\\p{L}+|помощ\\p{L}+|счет|счёт|заказ|визит|встреч\\p{L}+|бронирован\\p{L}+|опрос|доставк\\p{L}+|участие',
  '(?:配信停止|登録解除|退会|受信設定|プライバシー|ヘルプ|請求|注文|予約|会議|面談|アンケート|配達|お届け|出席)',
)
