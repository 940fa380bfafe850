// Apple's AVFoundation re-exports AVFAudio.
@_exported public import AVFAudio
