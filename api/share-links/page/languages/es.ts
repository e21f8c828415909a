import type { PageTexts } from '#api/share-links/page/page-texts.ts';

export const spanish: PageTexts = {
  heading: 'Instale su eSIM',
  languages: 'Idioma',
  alreadyInstalled:
    'Esta eSIM ya está instalada en un teléfono. La mayoría de las eSIM solo se pueden instalar una vez.',
  before: {
    heading: 'Antes de empezar',
    steps: [
      'Conecte el teléfono a una red wifi.',
      'Compruebe que el teléfono admite eSIM y que no está bloqueado para otro operador.',
      'Instale la eSIM una sola vez y no la elimine: la mayoría de las eSIM no se pueden volver a instalar.',
    ],
  },
  oneTap: {
    heading: 'Instalar en este teléfono',
    ios: 'Instalar en iPhone',
    android: 'Instalar en Android',
    hint:
      'Para iPhone con iOS 17.4 o posterior y teléfonos Android recientes. Si no se abre nada, use el código QR ' +
      'o los códigos de abajo.',
  },
  scan: {
    heading: 'Escanear el código QR',
    alt: 'Código QR con el código de activación de la eSIM',
    hint:
      'Muestre esta página en otra pantalla o imprímala, y escanee el código con el teléfono que va a usar la ' +
      'eSIM.',
  },
  manual: {
    heading: 'Introducir los códigos a mano',
    smdpAddress: 'Dirección SM-DP+',
    activationCode: 'Código de activación',
    completeCode: 'Código completo, para Android',
    confirmation: 'El teléfono también pide un código de confirmación. Se lo dio la tienda que vendió la eSIM.',
  },
  ios: {
    heading: 'Pasos en un iPhone',
    steps: [
      'Abra Ajustes › Datos móviles › Añadir eSIM.',
      'Elija «Usar código QR» y escanee el código. Para escribir los códigos, elija «Introducir detalles manualmente».',
      'Elija «Continuar» y espere a que la eSIM esté activa.',
    ],
  },
  android: {
    heading: 'Pasos en un teléfono Android',
    steps: [
      'Abra Ajustes › Red e Internet (o Conexiones) › SIM › Añadir eSIM.',
      'Escanee el código. Para escribirlo, elija la introducción manual y use el código completo.',
      'Confirme y active la eSIM.',
    ],
  },
  afterwards: {
    heading: 'En su destino',
    steps: ['Active la eSIM y elíjala para los datos móviles.', 'Active la itinerancia de datos para esta eSIM.'],
  },
  availableUntil: 'Esta página se puede abrir hasta el',
  keepPrivate: 'No comparta esta página: quien la abra puede instalar la eSIM.',
  preview: { text: 'Esta página contiene los códigos de su eSIM.', open: 'Mostrar mi eSIM' },
  cancelled: {
    heading: 'Esta eSIM se ha cancelado',
    text: 'Ya no se puede instalar. Si tiene preguntas, diríjase a la tienda que la vendió.',
  },
  expired: {
    heading: 'Esta eSIM ha caducado',
    text: 'Su validez ha terminado y ya no se puede instalar. La tienda que la vendió puede ofrecerle una nueva.',
  },
  gone: {
    heading: 'Esta página no está disponible',
    text: 'El enlace está incompleto o ya no es válido. Pida uno nuevo a la tienda que se lo envió.',
  },
  tooMany: {
    heading: 'Demasiadas solicitudes',
    text: 'Esta página se ha abierto demasiadas veces desde su red. Espere un minuto y vuelva a cargarla.',
  },
  unavailable: {
    heading: 'Esta página no se puede mostrar ahora',
    text: 'Su eSIM no está afectada. Vuelva a cargar la página dentro de un minuto.',
  },
};
