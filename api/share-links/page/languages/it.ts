import type { PageTexts } from '#api/share-links/page/page-texts.ts';

export const italian: PageTexts = {
  heading: 'Installi la Sua eSIM',
  languages: 'Lingua',
  alreadyInstalled:
    'Questa eSIM è già installata su un telefono. La maggior parte delle eSIM si può installare una sola volta.',
  before: {
    heading: 'Prima di iniziare',
    steps: [
      'Colleghi il telefono a una rete Wi-Fi.',
      'Verifichi che il telefono supporti le eSIM e non sia bloccato su un altro operatore.',
      'Installi la eSIM una sola volta e non la elimini: la maggior parte delle eSIM non si può installare di nuovo.',
    ],
  },
  oneTap: {
    heading: 'Installare su questo telefono',
    ios: 'Installare su iPhone',
    android: 'Installare su Android',
    hint:
      'Per iPhone con iOS 17.4 o versioni successive e telefoni Android recenti. Se non si apre nulla, usi il codice ' +
      'QR o i codici qui sotto.',
  },
  scan: {
    heading: 'Scansionare il codice QR',
    alt: 'Codice QR con il codice di attivazione della eSIM',
    hint:
      'Mostri questa pagina su un altro schermo o la stampi, e scansioni il codice con il telefono che userà la ' +
      'eSIM.',
  },
  manual: {
    heading: 'Inserire i codici a mano',
    smdpAddress: 'Indirizzo SM-DP+',
    activationCode: 'Codice di attivazione',
    completeCode: 'Codice completo, per Android',
    confirmation: 'Il telefono chiede anche un codice di conferma. Lo ha ricevuto dal negozio che ha venduto la eSIM.',
  },
  ios: {
    heading: 'Passaggi su iPhone',
    steps: [
      'Apra Impostazioni › Cellulare › Aggiungi eSIM.',
      'Scelga “Utilizza codice QR” e scansioni il codice. Per digitare i codici, scelga “Inserisci i dettagli ' +
        'manualmente”.',
      'Scelga “Continua” e attenda che la eSIM sia attiva.',
    ],
  },
  android: {
    heading: 'Passaggi su un telefono Android',
    steps: [
      'Apra Impostazioni › Rete e Internet (o Connessioni) › SIM › Aggiungi eSIM.',
      'Scansioni il codice. Per digitarlo, scelga l’inserimento manuale e usi il codice completo.',
      'Confermi e attivi la eSIM.',
    ],
  },
  afterwards: {
    heading: 'A destinazione',
    steps: ['Attivi la eSIM e la scelga per i dati mobili.', 'Attivi il roaming dati per questa eSIM.'],
  },
  availableUntil: 'Questa pagina si può aprire fino al',
  keepPrivate: 'Non condivida questa pagina: chi la apre può installare la eSIM.',
  preview: { text: 'Questa pagina contiene i codici della Sua eSIM.', open: 'Mostrare la mia eSIM' },
  cancelled: {
    heading: 'Questa eSIM è stata annullata',
    text: 'Non si può più installare. Per domande si rivolga al negozio che l’ha venduta.',
  },
  expired: {
    heading: 'Questa eSIM è scaduta',
    text:
      'La sua validità è terminata e non si può più installare. Il negozio che l’ha venduta può offrirne una ' +
      'nuova.',
  },
  gone: {
    heading: 'Questa pagina non è disponibile',
    text: 'Il link è incompleto o non è più valido. Ne chieda uno nuovo al negozio che lo ha inviato.',
  },
  tooMany: {
    heading: 'Troppe richieste',
    text: 'Questa pagina è stata aperta troppe volte dalla Sua rete. Attenda un minuto e la ricarichi.',
  },
  unavailable: {
    heading: 'Questa pagina non può essere mostrata in questo momento',
    text: 'La Sua eSIM non è interessata. Ricarichi la pagina fra un minuto.',
  },
};
