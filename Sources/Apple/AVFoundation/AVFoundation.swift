// Apple's AVFoundation passes AVFAudio on.
@_exported public import AVFAudio
