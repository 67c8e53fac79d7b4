/* Peer of bench_render: vtkFixedPointVolumeRayCastMapper (VTK, BSD licence), which is what vtkSmartVolumeMapper does in software: on processors, with
 * RequestedRenderMode RayCast. Only its rays are run and timed: no window is opened and the picture is not brought to a screen. A small library
 * that bench_render opens if it is there. */
#include <cstring>

#include <vtkAutoInit.h>
#include <vtkCamera.h>
#include <vtkColorTransferFunction.h>
#include <vtkFixedPointRayCastImage.h>
#include <vtkFixedPointVolumeRayCastMapper.h>
#include <vtkFloatArray.h>
#include <vtkGenericOpenGLRenderWindow.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPiecewiseFunction.h>
#include <vtkPointData.h>
#include <vtkRenderer.h>
#include <vtkVolume.h>
#include <vtkVolumeProperty.h>

VTK_MODULE_INIT(vtkRenderingOpenGL2)
VTK_MODULE_INIT(vtkRenderingVolumeOpenGL2)

struct peer_volume {
    vtkNew<vtkFloatArray> values;
    vtkNew<vtkImageData> image;
    vtkNew<vtkColorTransferFunction> color;
    vtkNew<vtkPiecewiseFunction> opacity;
    vtkNew<vtkFixedPointVolumeRayCastMapper> mapper;
    vtkNew<vtkVolume> volume;
    vtkNew<vtkRenderer> renderer;
    vtkNew<vtkGenericOpenGLRenderWindow> window;
};

/* Float32 voxels (kept by reference) a unit apart, x fastest; points: value, opacity per unit of length, red, green, blue. */
extern "C" __attribute__((visibility("default"))) void *peer_volume_create(const float *data, const int size[3], int side, const double eye[3],
                                                                           const double target[3], const double up[3], double fov,
                                                                           const double (*points)[5], int count, int threads)
{
    peer_volume *p = new peer_volume;
    p->values->SetArray(const_cast<float *>(data), (vtkIdType)size[0] * size[1] * size[2], 1);
    p->image->SetDimensions(size[0], size[1], size[2]);
    p->image->GetPointData()->SetScalars(p->values);
    for (int i = 0; i < count; i++) {
        p->opacity->AddPoint(points[i][0], points[i][1]);
        p->color->AddRGBPoint(points[i][0], points[i][2], points[i][3], points[i][4]);
    }
    vtkVolumeProperty *property = p->volume->GetProperty();
    property->SetColor(p->color);
    property->SetScalarOpacity(p->opacity);
    property->SetScalarOpacityUnitDistance(1);
    property->SetInterpolationTypeToLinear();
    property->ShadeOff();
    p->mapper->SetInputData(p->image);
    p->mapper->SetNumberOfThreads(threads);
    p->mapper->AutoAdjustSampleDistancesOff();
    p->mapper->LockSampleDistanceToInputSpacingOff();
    p->mapper->SetImageSampleDistance(1);
    p->volume->SetMapper(p->mapper);
    p->window->SetSize(side, side);
    p->window->AddRenderer(p->renderer);
    p->renderer->AddVolume(p->volume);
    vtkCamera *camera = p->renderer->GetActiveCamera();
    camera->SetPosition(eye);
    camera->SetFocalPoint(target);
    camera->SetViewUp(up);
    camera->SetViewAngle(fov);
    p->renderer->ResetCameraClippingRange();
    return p;
}

/* One picture, a sample every `step`. 0 = there is none. */
extern "C" __attribute__((visibility("default"))) int peer_volume_render(void *peer, double step)
{
    peer_volume *p = (peer_volume *)peer;
    double origin[3] = { 0, 0, 0 }, spacing[3] = { 0, 0, 0 }; /* of parts of volumes: not used */
    int extent[6] = { 0, 0, 0, 0, 0, 0 };
    p->mapper->SetSampleDistance((float)step);
    p->mapper->GetInputAlgorithm()->Update();
    if (p->mapper->PerImageInitialization(p->renderer, p->volume, 0, origin, spacing, extent) == 0) return 0;
    p->mapper->PerVolumeInitialization(p->renderer, p->volume);
    p->mapper->PerSubVolumeInitialization(p->renderer, p->volume, 0);
    p->mapper->RenderSubVolume();
    return 1;
}

/* The last picture, rows from the top: red, green, blue (times opacity) and opacity, 0 to 1. */
extern "C" __attribute__((visibility("default"))) void peer_volume_picture(void *peer, int side, float *rgba)
{
    peer_volume *p = (peer_volume *)peer;
    vtkFixedPointRayCastImage *image = p->mapper->GetRayCastImage();
    int origin[2], used[2], memory[2];
    image->GetImageOrigin(origin);
    image->GetImageInUseSize(used);
    image->GetImageMemorySize(memory);
    std::memset(rgba, 0, sizeof *rgba * 4 * (size_t)side * (size_t)side);
    for (int y = 0; y < used[1]; y++)
        for (int x = 0; x < used[0]; x++) {
            const int to_x = x + origin[0], to_y = side - 1 - (y + origin[1]);
            if (to_x < 0 || to_x >= side || to_y < 0 || to_y >= side) continue;
            const unsigned short *from = image->GetImage() + 4 * ((size_t)y * (size_t)memory[0] + (size_t)x);
            for (int c = 0; c < 4; c++) rgba[4 * ((size_t)to_y * (size_t)side + (size_t)to_x) + (size_t)c] = (float)from[c] / 32767.0f;
        }
}

extern "C" __attribute__((visibility("default"))) void peer_volume_destroy(void *peer) { delete (peer_volume *)peer; }
