# The rooms from the lowest floor up: a room may use the rooms before it and none behind it (scripts/lint-rooms.py looks).
set(TESSERA_ROOMS
  core
  camera
  device
  primitives
  io
  volume
  tiles
  mesh
  histopyramid
  wavelet
  compress
  region
  surface
  solver
  segment
  algebra
  reconstruct
  edit
  render
  mip
  formats
  vision
  video
  fluid
  light
  flow)

# How a room (a folder of src/) enters the build: tessera_room(NAME SOURCES *.c ISA *_isa.c KERNELS *.cu)
#   SOURCES  C11, into the library
#   ISA      compiled once per SIMD variant (base, avx2, avx512), into the library
#   KERNELS  compiled by nvcc into the cuda module and by the C++ compiler into the emulator module
#   UNROLLED (no list) kernels of many unrolled templates: under sanitizers the emulator's are not optimised, which takes minutes
#   READERS  (no list) code that reads files: under TESSERA_FUZZ it tells libFuzzer where it has been, the rest stays as fast as it was

set(TESSERA_WARNINGS -Wall -Wextra -Wshadow -Wvla -Wpointer-arith)
set(TESSERA_WARNINGS_C -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual)
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  list(APPEND TESSERA_WARNINGS "$<$<NOT:$<CONFIG:Release>>:-Werror>") # GCC decides; clang builds the fuzz targets. At -O3, Release, it guesses
  list(APPEND TESSERA_WARNINGS_C -Wdouble-promotion) # clang also means the float macros INFINITY and NAN
else()
  list(APPEND TESSERA_WARNINGS -Wno-pass-failed) # loops that a hardly optimised build leaves alone
endif()
set(TESSERA_FLOAT -ffp-contract=off -fno-math-errno -fno-trapping-math)

macro(tessera_flags)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${TESSERA_FLOAT}>")
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>") # messages name files of the sources, not of a machine
  if(TESSERA_SANITIZE)
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${TESSERA_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
    add_link_options("-fsanitize=${TESSERA_SANITIZE}")
    add_compile_definitions(TSR_QUICK_BUILD TSR_SANITIZED) # see core/hd.h, tests/support.h
  else()
    set(TESSERA_VECTORS -O3)
  endif()
  if(TESSERA_SANITIZE MATCHES address)
    add_compile_definitions(TSR_SANITIZE_ADDRESS) # clang has no macro of its own for it
  endif()
  if(TESSERA_SANITIZE MATCHES thread)
    add_compile_definitions(TSR_SANITIZE_THREAD)
    set(TESSERA_EMU OFF) # fibres are opaque to ThreadSanitizer
  endif()
  if(TESSERA_SANITIZE MATCHES undefined AND CMAKE_C_COMPILER_ID MATCHES Clang)
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize=pointer-overflow>") # clang also means NULL + 0, as with an empty array
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=function,vptr>") # their runtime comes with C++ programs alone, ours are C
  endif()
endmacro()

# An optional library of the library itself: with it TSR_HAVE_name is 1, without it the report says what is left out. MODULE is found by pkg-config,
# TARGET by find_package; name_FOUND is set as they do. A target behind them takes it in place of tessera_dependencies: tessera_format_libraries are for
# the room formats alone.
macro(tessera_optional prefix name left_out how what)
  set(taker tessera_dependencies)
  if(${ARGC} GREATER 5)
    set(taker ${ARGV5})
  endif()
  if("${how}" STREQUAL MODULE)
    if(PkgConfig_FOUND)
      pkg_check_modules(${prefix} IMPORTED_TARGET ${what})
    endif()
    set(library PkgConfig::${prefix})
  else()
    find_package(${prefix})
    set(library ${what})
  endif()
  if(${prefix}_FOUND)
    target_link_libraries(${taker} INTERFACE ${library})
    target_compile_definitions(${taker} INTERFACE TSR_HAVE_${name}=1)
  else()
    list(APPEND TESSERA_LEFT_OUT "${left_out}")
  endif()
endmacro()

macro(tessera_dependencies)
  find_package(OpenMP REQUIRED COMPONENTS C)
  find_package(Threads REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(PNG REQUIRED)
  set(TESSERA_LEFT_OUT "")
  add_library(tessera_dependencies INTERFACE)
  target_link_libraries(tessera_dependencies INTERFACE ZLIB::ZLIB PNG::PNG OpenMP::OpenMP_C Threads::Threads m ${CMAKE_DL_LIBS})
  find_package(PkgConfig)
  tessera_optional(DEFLATE LIBDEFLATE "libdeflate (not found: zlib unpacks .gz files, slower)" MODULE libdeflate)
  tessera_optional(ZSTD ZSTD "libzstd (not found: .tsr files are written uncompressed, packed ones are not read)" MODULE libzstd)
  tessera_optional(JPEG JPEG "libjpeg-turbo (not found: no JPEG images)" TARGET JPEG::JPEG)
  add_library(tessera_format_libraries INTERFACE)
  tessera_optional(LIBTIFF TIFF "libtiff 4.5 or newer (not found: no TIFF files; package libtiff-dev)" MODULE libtiff-4>=4.5 tessera_format_libraries)
  tessera_optional(LIBHDF5 HDF5 "HDF5 (not found: no HDF5 files; package libhdf5-dev)" MODULE hdf5 tessera_format_libraries)
  tessera_optional(JANSSON JANSSON "jansson (not found: no Zarr arrays, no glTF and GLB; package libjansson-dev)" MODULE jansson tessera_format_libraries)
  tessera_optional(LIBBLOSC BLOSC "blosc (not found: no chunks of Zarr that it packs; package libblosc-dev)" MODULE blosc tessera_format_libraries)
  tessera_optional(LZMA LZMA "liblzma (not found: no chunks of Zarr and arrays of VTK's XML files that it packs; package liblzma-dev)" MODULE liblzma tessera_format_libraries)
  tessera_optional(OpenEXR OPENEXR "OpenEXR (not found: no EXR images; package libopenexr-dev)" TARGET OpenEXR::OpenEXRCore tessera_format_libraries)
  tessera_optional(WEBP WEBP "libwebp (not found: no WebP images; package libwebp-dev)" MODULE libwebp tessera_format_libraries)
  tessera_optional(JXL JXL "libjxl (not found: no JPEG XL images; package libjxl-dev)" MODULE libjxl tessera_format_libraries)
  if(PkgConfig_FOUND)
    pkg_check_modules(WEBSOCKETS IMPORTED_TARGET libwebsockets)
    pkg_check_modules(OPENSSL IMPORTED_TARGET openssl)
  endif()
  set(TESSERA_HAVE_VIEWER FALSE)
  if(WEBSOCKETS_FOUND AND JANSSON_FOUND AND JPEG_FOUND)
    set(TESSERA_HAVE_VIEWER TRUE)
    if(NOT OPENSSL_FOUND)
      list(APPEND TESSERA_LEFT_OUT "tessera serve --certificate (needs OpenSSL)")
    endif()
  else()
    list(APPEND TESSERA_LEFT_OUT "tessera serve (needs libwebsockets, jansson and libjpeg-turbo)")
  endif()
endmacro()

# Library and modules share tables of functions and plain structs: a module built from other headers must be refused, not called. The number
# is a digest of the internal headers, in a header of its own that only the four files concerned include.
function(tessera_backend_abi)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.h ${PROJECT_SOURCE_DIR}/src/*/*/*.h ${PROJECT_SOURCE_DIR}/include/tessera/*.h)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(digests "")
  foreach(header ${headers})
    file(SHA256 ${header} digest)
    string(APPEND digests ${digest})
  endforeach()
  string(SHA256 digest "${digests}")
  string(SUBSTRING ${digest} 0 8 digest)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/backend_abi.h CONTENT "#define TSR_BACKEND_ABI 0x${digest}u\n")
endfunction()

macro(tessera_cuda_setup)
  set(TESSERA_HAVE_CUDA FALSE)
  if(NOT TESSERA_CUDA STREQUAL "OFF" AND NOT TESSERA_SANITIZE)
    include(CheckLanguage)
    set(CMAKE_CUDA_ARCHITECTURES ${TESSERA_CUDA_ARCHITECTURES})
    if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
      set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
    endif()
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      enable_language(CUDA)
      if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
        if(TESSERA_CUDA STREQUAL "ON")
          message(FATAL_ERROR "TESSERA_CUDA=ON: CUDA ${CMAKE_CUDA_COMPILER_VERSION} found, 12.4 or newer needed")
        endif()
        list(APPEND TESSERA_LEFT_OUT "CUDA module (CUDA ${CMAKE_CUDA_COMPILER_VERSION} is older than 12.4)")
      else()
        set(TESSERA_HAVE_CUDA TRUE)
        set(CMAKE_CUDA_STANDARD 17)
      endif()
    elseif(TESSERA_CUDA STREQUAL "ON")
      message(FATAL_ERROR "TESSERA_CUDA=ON: no CUDA compiler (nvcc) found")
    else()
      list(APPEND TESSERA_LEFT_OUT "CUDA module (no nvcc found)")
    endif()
  endif()
endmacro()

# Called in src/CMakeLists.txt before the rooms.
function(tessera_targets)
  tessera_backend_abi()
  target_include_directories(tessera_dependencies INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
  add_library(tessera SHARED)
  # As installed from the start, with the folder of the compiler's own OpenMP where it needs one: a path made for the build alone ends in an empty element.
  # Until 1.0 every second number is an interface of its own.
  set_target_properties(tessera PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/tessera.map BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
  target_include_directories(tessera PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                             PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_options(tessera PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/tessera.map)
  target_link_libraries(tessera PRIVATE $<BUILD_INTERFACE:tessera_dependencies> $<BUILD_INTERFACE:tessera_format_libraries>)
  # The same objects with everything visible: unit tests of internals link this one.
  add_library(tessera_internal STATIC)
  target_include_directories(tessera_internal PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tessera_internal PUBLIC tessera_dependencies $<LINK_ONLY:tessera_format_libraries>)
  if(TESSERA_EMU)
    add_library(tessera_emu MODULE device/emu/emu.cpp device/module.c)
    target_include_directories(tessera_emu PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
    target_compile_definitions(tessera_emu PRIVATE TSR_EMU=1 TSR_QUICK_BUILD)
    if(NOT TESSERA_SANITIZE)
      target_link_options(tessera_emu PRIVATE -Wl,--no-undefined) # a module must not lean on symbols of the library
    endif()
    target_compile_options(tessera_emu PRIVATE ${TESSERA_WARNINGS} -Wno-unused-function -Wno-unknown-pragmas)
  endif()
  if(TESSERA_HAVE_CUDA)
    add_library(tessera_cuda MODULE device/cuda/backend.cu device/module.c)
    target_include_directories(tessera_cuda PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
    target_compile_options(tessera_cuda PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;-Werror=all-warnings;-diag-suppress=177;-Xcompiler=-Wall>")
    set_target_properties(tessera_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden)
    target_link_options(tessera_cuda PRIVATE -Wl,--no-undefined)
    add_library(tessera_cuda_fused OBJECT)
    target_include_directories(tessera_cuda_fused PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
    target_compile_options(tessera_cuda_fused PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-fmad=true;-Werror=all-warnings;-diag-suppress=177;-Xcompiler=-Wall>")
    set_target_properties(tessera_cuda_fused PROPERTIES CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    target_sources(tessera_cuda PRIVATE $<TARGET_OBJECTS:tessera_cuda_fused>)
  endif()
endfunction()

function(tessera_room name)
  cmake_parse_arguments(room "READERS;UNROLLED" "" "SOURCES;ISA;KERNELS;FUSED" ${ARGN})
  list(TRANSFORM room_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_library(room_${name} OBJECT ${room_SOURCES})
  target_include_directories(room_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(room_${name} PRIVATE ${TESSERA_WARNINGS} "$<$<COMPILE_LANGUAGE:C>:${TESSERA_WARNINGS_C}>")
  target_link_libraries(room_${name} PRIVATE tessera_dependencies)
  if(TESSERA_FUZZ AND room_READERS)
    target_compile_options(room_${name} PRIVATE -fsanitize=fuzzer-no-link,pointer-overflow -fsanitize-recover=pointer-overflow) # tests/fuzz/fuzz_corpus.c decides
  endif()
  set(objects $<TARGET_OBJECTS:room_${name}>)
  if(room_ISA)
    set(variants base)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      list(APPEND variants avx2 avx512)
    endif()
    set(flags_base "")
    set(flags_avx2 -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt -mtune=haswell)
    set(flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mbmi -mbmi2 -mlzcnt -mpopcnt -mtune=skylake-avx512 -mprefer-vector-width=512)
    list(TRANSFORM room_ISA PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    foreach(variant ${variants})
      add_library(room_${name}_${variant} OBJECT ${room_ISA})
      target_include_directories(room_${name}_${variant} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
      target_compile_definitions(room_${name}_${variant} PRIVATE TSR_ISA=${variant} TSR_ISA_IS_${variant}=1)
      set(vectors ${TESSERA_VECTORS})
      if(variant STREQUAL base AND (CMAKE_BUILD_TYPE STREQUAL Debug OR (TESSERA_SMALL_BASE AND avx2 IN_LIST variants)) AND NOT TESSERA_SANITIZE)
        target_compile_definitions(room_${name}_${variant} PRIVATE TSR_QUICK_BUILD) # no machine of these days takes it by itself
        if(TESSERA_SMALL_BASE)
          set(vectors -Os)
        endif()
      endif()
      target_compile_options(room_${name}_${variant} PRIVATE ${TESSERA_WARNINGS} ${vectors} -fopenmp-simd ${flags_${variant}})
      list(APPEND objects $<TARGET_OBJECTS:room_${name}_${variant}>)
    endforeach()
  endif()
  target_sources(tessera PRIVATE ${objects})
  target_sources(tessera_internal PRIVATE ${objects})
  foreach(kernel ${room_KERNELS} ${room_FUSED})
    if(TARGET tessera_emu)
      get_filename_component(stem ${kernel} NAME_WE)
      set(wrapper ${CMAKE_BINARY_DIR}/emu/${name}_${stem}.cpp)
      file(RELATIVE_PATH kernel_path ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/${kernel}) # the same text in every clone: compiler caches
      file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${kernel_path}\"\n")
      target_sources(tessera_emu PRIVATE ${wrapper})
      if(room_UNROLLED AND TESSERA_SANITIZE)
        set_source_files_properties(${wrapper} TARGET_DIRECTORY tessera_emu PROPERTIES COMPILE_OPTIONS -O0)
      endif()
    endif()
    if(TARGET tessera_cuda)
      if(kernel IN_LIST room_FUSED) # of the reproducible class: multiplications and additions are fused
        target_sources(tessera_cuda_fused PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${kernel})
      else()
        target_sources(tessera_cuda PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${kernel})
      endif()
    endif()
  endforeach()
endfunction()

function(tessera_report)
  message(STATUS "tessera ${PROJECT_VERSION} (${CMAKE_BUILD_TYPE}): CPU (base, AVX2, AVX-512)")
  if(TESSERA_EMU)
    message(STATUS "  with the emulator module")
  endif()
  if(TESSERA_HAVE_CUDA)
    message(STATUS "  with the CUDA module (CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${TESSERA_CUDA_ARCHITECTURES})")
  endif()
  foreach(left ${TESSERA_LEFT_OUT})
    message(STATUS "  left out: ${left}")
  endforeach()
endfunction()
