// Words around one-time codes in ten languages: nouns that name a code, nouns that name other numbers, and signs of a code mail.

/** Start and end of a word, in scripts that separate words. */
const START = '(?<![\\p{L}\\p{N}])'
const END = '(?![\\p{L}\\p{N}])'

/** @param words patterns of whole words; @param joined patterns of a script without spaces between words */
function anyOf(words: readonly string[], joined: readonly string[] = []): string {
  return [`${START}(?:${words.join('|')})${END}`, ...joined].join('|')
}

/** Nouns that name a code for signing in or for confirming something, without help of other words. */
const STRONG = anyOf(
  [
    // English
    '(?:verification|verify|security|confirmation|authentication|authorization|authorisation|log-?in|sign-?in|sign in|log in|activation|one[- ]time|single[- ]use|2fa|mfa|two[- ](?:factor|step)|recovery|pairing|registration|identity|temporary|unlock)(?: (?:log-?in|sign-?in|security|verification|access|pass|pin))? ?(?:pass)?(?:code|pin|number)s?',
    'one[- ]time (?:password|passcode|pin)',
    '(?:otp|passcode|2fa code)',
    // German
    '(?:bestätigungs|sicherheits|verifizierungs|einmal|anmelde|login|zugangs|aktivierungs|authentifizierungs|freischalt|prüf)-?codes?',
    '(?:einmal(?:passwort|kennwort)|tan|zugangs-?pin)',
    // French
    "(?:code|mot de passe)s? (?:de (?:vérification|sécurité|confirmation|connexion|validation|récupération)|d['’](?:authentification|accès|activation|identification)|à usage unique|unique|temporaire|provisoire)",
    // Spanish
    '(?:código|clave|contraseña)s? (?:de (?:verificación|seguridad|confirmación|acceso|inicio de sesión|activación|autenticación|un solo uso)|temporal|único)',
    // Portuguese
    '(?:código|senha|palavra-passe)s? (?:de (?:verificação|segurança|confirmação|acesso|ativação|autenticação|login|uso único)|temporária|temporário|único|única)',
    // Italian
    '(?:codice|password)(?: (?:di (?:verifica|sicurezza|conferma|accesso|attivazione|autenticazione|sblocco)|monouso|temporane[ao]|otp|usa e getta))',
    // Dutch
    '(?:verificatie|beveiligings|bevestigings|inlog|toegangs|activerings|activatie|eenmalige|eenmalige )-?(?:code|pincode|toegangscode|wachtwoord)',
    // Polish
    '(?:kod|kodu|kodem|hasło|hasła) (?:weryfikacyjn|bezpieczeństwa|potwierdz|logowania|dostępu|aktywacyjn|autoryzacyjn|jednorazow|uwierzytelni)\\p{L}*',
    'jednorazow\\p{L}+ (?:kod|hasło|hasła|kodu)',
    // Russian
    '(?:код|кода|кодом|пароль|пин-код) (?:подтверждения|проверки|безопасности|доступа|активации|авторизации|для входа|входа|верификации)',
    '(?:одноразов|проверочн|временн)\\p{L}+ (?:код|пароль|кода|пароля)',
  ],
  // Japanese
  [
    '(?:認証|確認|検証|セキュリティ|ログイン|アクセス|承認|有効化|本人確認|ワンタイム|一時)(?:用)?(?:コード|番号|パスワード|キー)',
    'ワンタイムパスワード',
    'パスコード',
  ],
)

/** Nouns that may name such a code. */
const WEAK = anyOf(
  ['(?:codes?|pin|pins|pin-?codes?)', '(?:código|clave|senha|codice|kod|kodu|kodem|код|кода|кодом)'],
  ['コード', '暗証番号'],
)

/** Nouns of other numbers, and compounds that only look like a code. */
const OTHER = anyOf(
  [
    // English
    '(?:promo|promotion|promotional|discount|coupon|voucher|gift(?: card)?|referral|invite|offer|redemption|sale|zip|postal|post|area|country|dial(?:ling|-in)?|error|status|exit|response|product|item|article|part|model|order|booking|reservation|flight|tracking|parcel|shipment|pickup|customer|client|member(?:ship)?|tax|vat|bank|sort|swift|iban|branch|color|colour|dress|source|bar|qr|building|door|gate|room|course|subject|zone|airport|currency|batch|lot|serial|meeting|conference|webinar|event|ticket|airline|style|fare|rate|licen[cs]e|reference|case|check-in)[- ]?(?:code|pin|passcode|confirmation(?: code)?|no|number|id)s?\\.?',
    '(?:orders?|invoices?|receipts?|bill|parcels?|packages?|shipments?|tracking|customer|account (?:number|no|ending)|client|member|tickets?|cases?|case|requests?|reference|ref|booking|reservation|flight|itinerary|phone|tel|telephone|mobile|fax|call|hotline|extension|ext|zip|p\\.?o\\.? box|street|st|road|avenue|suite|year|since|founded|card ending|ending in|version|build|release|room|seat|gate|meeting(?: id)?|policy|contract|serial|sku|model|isbn|iban|vat|registration no|company (?:number|no)|price|total|amount|balance|points|miles|steps|votes|followers|copyright|issue|pull request|commit|job|postcode|donation|transaction|payment|quote|quotation|purchase)',
    // German
    '\\p{L}*(?:gutschein|rabatt|aktions|promo|promotion|fehler|artikel|produkt|bestell|buchungs|reservierungs|sendungs|tracking|qr|bar|länder|farb|steuer|kunden|tür|geschenk|coupon|einlöse|empfehlungs|paket|abhol|konferenz|besprechungs|meeting|vorteils)-?codes?',
    '(?:postleitzahl|plz|bankleitzahl|blz)',
    '(?:bestell|auftrags|rechnungs|kunden|sendungs|paket|telefon|fax|vertrags|ticket|buchungs|vorgangs|artikel|mitglieds|konto|referenz|fall|seriennummer|serien|haus|steuer|versicherungs|liefer|meeting|konferenz|zähler|akten|vorgangs|zimmer|flug|beleg|policen)-?(?:nummer|nr|id|zeichen)\\.?',
    '(?:bestellung|auftrag|rechnung|sendung|paket|ticket|tel|telefon|fax|hotline|jahr|seit|betrag|summe|preis|gesamt|punkte|vertrag|buchung|lieferung|version|zimmer|raum|flug)',
    // French
    "code (?:postal|promo(?:tionnel)?|de (?:réduction|parrainage|remise|réservation|suivi|commande|retrait|la réunion|réunion)|avantage|barres|erreur|d['’]erreur|client|produit|article|cadeau|qr|couleur|guichet|banque|naf|ape)",
    '(?:commande|facture|colis|livraison|client|réservation|dossier|téléphone|tél|portable|fax|numéro de (?:commande|suivi|client|facture|dossier|téléphone|contrat)|référence|réf|année|depuis|montant|total|prix|points|billet|vol|contrat|siret|siren|version|réunion|abonnement|ticket|chambre)',
    // Spanish
    '(?:código|clave) (?:postal|promocional|de (?:descuento|promoción|producto|artículo|reserva|seguimiento|cliente|pedido|error|barras|área|país|referido|regalo|cupón|la reunión|reunión|recogida)|qr|swift)',
    '(?:pedido|factura|paquete|envío|cliente|reserva|teléfono|tel|móvil|fax|referencia|año|desde|importe|total|precio|puntos|expediente|vuelo|contrato|ticket|entrada|versión|reunión|localizador|habitación|matrícula|presupuesto)',
    // Portuguese
    'código (?:postal|promocional|de (?:desconto|promoção|produto|artigo|reserva|rastreio|rastreamento|cliente|pedido|erro|barras|indicação|presente|cupom|cupão|área|reunião|levantamento)|qr|swift)',
    '(?:cep|encomenda|pedido|fatura|nota fiscal|pacote|cliente|telefone|telemóvel|celular|protocolo|ano|valor|preço|pontos|voo|contrato|bilhete|versão|reunião|quarto|nif|cnpj|orçamento)',
    // Italian
    'codice (?:postale|sconto|promozionale|promo|di (?:prenotazione|tracciamento|spedizione|avviamento postale|errore|ritiro)|cliente|prodotto|articolo|fiscale|errore|a barre|qr|coupon|regalo|amico|riunione|ordine|abi|cab)',
    '(?:ordine|fattura|pacco|spedizione|cliente|prenotazione|telefono|tel|cellulare|riferimento|rif|pratica|anno|dal|importo|totale|prezzo|punti|volo|contratto|biglietto|versione|riunione|cap|camera|partita iva|p\\.? ?iva|preventivo)',
    // Dutch
    '(?:kortings|actie|promotie|post|boekings|reserverings|track-?(?:en-)?trace|product|artikel|fout|streep|qr|klant|cadeau|waardebon|voucher|landen|kleur|vergader|afhaal|netnummer|referral|vriend)-?codes?',
    '(?:bestel|order|factuur|klant|pakket|zending|ticket|telefoon|fax|referentie|dossier|contract|boekings|reserverings|polis|rekening|kamer|vlucht|serie|zaak|offerte)-?(?:nummer|nr)\\.?',
    '(?:bestelling|factuur|pakket|zending|klant|telefoon|tel|jaar|sinds|bedrag|totaal|prijs|punten|vlucht|boeking|versie|vergadering|kamer)',
    // Polish
    'kod(?:u|em)? (?:pocztow|rabatow|promocyjn|produktu|towaru|błędu|kreskow|rezerwacji|zamówienia|klienta|kierunkow|qr|śledzenia|polecając|podarunkow|odbioru|spotkania|swift)\\p{L}*',
    '(?:zamówieni|faktur|paczk|przesyłk|klient|rezerwacj|telefon|rachunk|umow|spraw|zgłoszeni|bilet|wersj|spotkani|pokoj)\\p{L}*',
    '(?:tel|nr|rok|roku|kwot[aęy]|cena|razem|suma|punkt(?:y|ów)|lot|nip|regon|krs)\\.?',
    // Russian
    '(?:промо-?код|купон|индекс)\\p{L}*',
    'код(?:а|ом)? (?:товара|заказа|бронирования|ошибки|скидки|купона|отслеживания|клиента|страны|города|региона|продукта|встречи|получения|сертификата|со скидкой)',
    '(?:заказ|счет|счёт|посылк|отправлени|клиент|телефон|бронировани|договор|обращени|билет|рейс|сумм|цен|итого|балл|верси|накладн|накладная|встреч|номер|квитанци|заявк)\\p{L}*',
    '(?:тел|год|года|году|с|инн|огрн|кпп|офис|дом|кв)\\.',
    '(?:инн|огрн|кпп|год|года|году)',
  ],
  [
    // Japanese
    '(?:クーポン|割引|プロモーション|プロモ|優待|招待|紹介|商品|製品|注文|予約|追跡|郵便|エラー|バー|QR|会議|ミーティング|ギフト|引換|引取|店舗|銀行|国|色)(?:用)?(?:コード|番号|ID|パスコード)',
    '(?:注文|請求書?|お客様|会員|伝票|予約|電話|問い?合わせ|受付|管理|口座|契約|整理|便|部屋|領収書|見積書?|顧客|お問い合わせ)(?:番号|No|ID)',
    '(?:郵便番号|電話|ファックス|FAX|合計|金額|価格|税込|ポイント|創業|設立)',
  ],
)

export const STRONG_NOUN = new RegExp(STRONG, 'giu')
export const WEAK_NOUN = new RegExp(WEAK, 'giu')
export const OTHER_NOUN = new RegExp(OTHER, 'giu')

/** The message says that something soon ends, is used once, is secret, or was perhaps not asked for; or speaks of signing in. */
export const CODE_MAIL_SIGNS: readonly RegExp[] = [
  // Minutes, or a single use.
  new RegExp(
    anyOf(
      [
        '\\d{1,3}[- ]?(?:minutes?|mins?|hours?|minuten|stunden?|heures?|minutos?|horas?|minuti|ore|ora|uur|minut(?:y|ę)?|godzin(?:y|ę)?|минут(?:ы|у)?|час(?:а|ов)?)',
        '(?:ten|five|fifteen|zehn|fünf|dix|cinq|diez|cinco|dez|dieci|cinque|tien|vijf|dziesięć|десять) (?:minutes|minuten|minutos|minuti|minut|минут)',
        '(?:only )?(?:used? )?(?:once|single use)',
        'expires? (?:in|soon|shortly)',
      ],
      ['\\d{1,3} ?(?:分|時間)', '一度(?:だけ|のみ|限り)', '1回(?:のみ|限り)'],
    ),
    'iu',
  ),
  // Secrecy.
  new RegExp(
    anyOf(
      [
        "(?:do not|don['’]t|never) (?:share|forward|give|tell|disclose)",
        '(?:will )?never ask',
        'gib\\p{L}* .{0,40}(?:niemandem|nicht weiter|niemals)',
        '(?:niemandem|an niemanden|nicht weiter|niemals nach)',
        'ne (?:le |la |les )?(?:partagez|communiquez|transmettez|divulguez)',
        'ne demanderons jamais',
        'no (?:lo |la |se lo )?(?:compartas|comparta|reveles|des)',
        'não (?:o |a )?(?:compartilhe|partilhe|divulgue)',
        'non (?:lo )?(?:condivider\\p{L}*|comunicar\\p{L}*)',
        '(?:deel|geef) .{0,40}(?:nooit|met niemand|niet)',
        'nie (?:udostępniaj|podawaj|przekazuj)',
        '(?:никому не|не (?:сообщайте|передавайте|показывайте))',
      ],
      ['(?:共有|教え|伝え|知らせ)(?:しない|ない)で'],
    ),
    'iu',
  ),
  // The recipient may not have asked for it.
  new RegExp(
    anyOf(
      [
        "(?:did not|didn['’]t|have not|haven['’]t) (?:request|requested|ask|asked|try|tried|make|made|initiate)",
        "(?:wasn['’]t|was not) you",
        '(?:nicht (?:angefordert|angefragt|sie waren|du warst|selbst|versucht)|nicht von (?:ihnen|dir))',
        "(?:n['’]avez pas|n['’]êtes pas|n['’]as pas|pas à l['’]origine|pas vous)",
        '(?:no (?:has|ha|fuiste|fue|lo) (?:solicitado|pedido|tú|usted|solicitaste)|si no fuiste tú|no solicitaste|no lo solicitaste|no has sido tú)',
        'não (?:foi você|solicitou|pediu|fez)',
        'non (?:hai|ha|sei|è) (?:richiesto|stato|effettuato|stato tu)',
        '(?:niet (?:aangevraagd|door jou|gevraagd)|heb je dit niet|was jij dit niet)',
        '(?:jeśli to nie (?:ty|pan)|nie prosi\\p{L}+|nie próbowa\\p{L}+)',
        '(?:не запрашивали|это были не вы|если это не вы|не пытались)',
      ],
      ['(?:心当たり|覚え|身に覚え)(?:の|が)(?:ない|ありません)'],
    ),
    'iu',
  ),
  // Signing in, confirming.
  new RegExp(
    anyOf(
      [
        '(?:sign(?:ing)?[- ]?in|log(?:ging)?[- ]?in|log(?:ging)? on|verify(?:ing)?|authenticate|two[- ](?:factor|step)|confirm your (?:e-?mail|identity|account|address|device|number)|finish (?:signing|creating|setting)|complete your (?:login|sign|registration))',
        '(?:anmelden|anmeldung|einloggen|bestätigen|verifizieren|login)',
        '(?:connexion|connecter|vérifier|confirmer votre|identifier|valider votre)',
        '(?:iniciar sesión|inicio de sesión|acceder|verificar|confirmar tu|confirmar su)',
        '(?:entrar|iniciar sessão|fazer login|confirmar (?:o |a )?(?:seu|sua|teu)|acessar)',
        '(?:accedere|accesso|verificare|confermare (?:il|la|l))',
        '(?:inloggen|aan te melden|aanmelden|verifiëren|bevestigen)',
        '(?:zalogować|logowani\\p{L}+|zaloguj|potwierdzić|potwierdź|zweryfikować)',
        '(?:войти|вход|входа|подтвердить|подтвердите|авторизации)',
      ],
      ['(?:ログイン|サインイン|本人確認|認証)'],
    ),
    'iu',
  ),
]
