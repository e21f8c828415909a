import type { PageTexts } from '#api/share-links/page/page-texts.ts';

export const german: PageTexts = {
  heading: 'Installieren Sie Ihre eSIM',
  languages: 'Sprache',
  alreadyInstalled:
    'Diese eSIM ist bereits auf einem Telefon installiert. Die meisten eSIMs lassen sich nur einmal installieren.',
  before: {
    heading: 'Bevor Sie beginnen',
    steps: [
      'Verbinden Sie das Telefon mit einem WLAN.',
      'Prüfen Sie, ob das Telefon eSIM unterstützt und nicht an ein anderes Netz gebunden ist (SIM-Lock).',
      'Installieren Sie die eSIM nur einmal und löschen Sie sie nicht: Die meisten eSIMs lassen sich nicht erneut ' +
        'installieren.',
    ],
  },
  oneTap: {
    heading: 'Auf diesem Telefon installieren',
    ios: 'Auf dem iPhone installieren',
    android: 'Auf Android installieren',
    hint:
      'Für iPhones ab iOS 17.4 und neuere Android-Telefone. Öffnet sich nichts, verwenden Sie den QR-Code oder die ' +
      'Codes weiter unten.',
  },
  scan: {
    heading: 'QR-Code scannen',
    alt: 'QR-Code mit dem Aktivierungscode der eSIM',
    hint:
      'Zeigen Sie diese Seite auf einem anderen Bildschirm oder drucken Sie sie, und scannen Sie den Code mit dem ' +
      'Telefon, das die eSIM nutzen soll.',
  },
  manual: {
    heading: 'Codes von Hand eingeben',
    smdpAddress: 'SM-DP+-Adresse',
    activationCode: 'Aktivierungscode',
    completeCode: 'Vollständiger Code, für Android',
    confirmation:
      'Das Telefon fragt auch nach einem Bestätigungscode. Sie haben ihn von dem Shop, der die eSIM verkauft hat.',
  },
  ios: {
    heading: 'Schritte auf dem iPhone',
    steps: [
      'Öffnen Sie Einstellungen › Mobilfunk › eSIM hinzufügen.',
      'Wählen Sie „QR-Code verwenden“ und scannen Sie den Code. Zum Eintippen wählen Sie „Details manuell eingeben“.',
      'Wählen Sie „Fortfahren“ und warten Sie, bis die eSIM aktiv ist.',
    ],
  },
  android: {
    heading: 'Schritte auf einem Android-Telefon',
    steps: [
      'Öffnen Sie Einstellungen › Netzwerk & Internet (oder Verbindungen) › SIMs › eSIM hinzufügen.',
      'Scannen Sie den Code. Zum Eintippen wählen Sie „Manuell eingeben“ und verwenden den vollständigen Code.',
      'Bestätigen Sie und schalten Sie die eSIM ein.',
    ],
  },
  afterwards: {
    heading: 'Am Reiseziel',
    steps: [
      'Schalten Sie die eSIM ein und wählen Sie sie für mobile Daten.',
      'Schalten Sie für diese eSIM das Daten-Roaming ein.',
    ],
  },
  availableUntil: 'Diese Seite lässt sich öffnen bis',
  keepPrivate: 'Geben Sie diese Seite nicht weiter: Wer sie öffnet, kann die eSIM installieren.',
  preview: { text: 'Diese Seite enthält die Codes Ihrer eSIM.', open: 'Meine eSIM anzeigen' },
  cancelled: {
    heading: 'Diese eSIM wurde storniert',
    text: 'Sie lässt sich nicht mehr installieren. Bei Fragen wenden Sie sich an den Shop, der sie verkauft hat.',
  },
  expired: {
    heading: 'Diese eSIM ist abgelaufen',
    text:
      'Ihre Gültigkeit ist vorbei, sie lässt sich nicht mehr installieren. Der Shop, der sie verkauft hat, kann ' +
      'Ihnen eine neue anbieten.',
  },
  gone: {
    heading: 'Diese Seite ist nicht verfügbar',
    text:
      'Der Link ist unvollständig oder nicht mehr gültig. Bitten Sie den Shop, der ihn geschickt hat, um einen ' +
      'neuen.',
  },
  tooMany: {
    heading: 'Zu viele Anfragen',
    text: 'Diese Seite wurde aus Ihrem Netz zu oft geöffnet. Warten Sie eine Minute und laden Sie sie dann neu.',
  },
  unavailable: {
    heading: 'Diese Seite kann gerade nicht angezeigt werden',
    text: 'Ihre eSIM ist nicht betroffen. Laden Sie die Seite in einer Minute neu.',
  },
};
